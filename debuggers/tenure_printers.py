# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""How debuggers show the public types: one line of text, and for containers their elements.

A front passes a value with member(name), deref(), number(), string(count), address(), read(address, count),
element_bytes() and elements(address, count, stride). Needs debug information of the program. Owning pointers over our
allocators are std::unique_ptr, which debuggers show by themselves.
"""

import re

from tenure_layout import Memory, printable

TYPE = re.compile(r"^tenure::(?:v\d+_\d+_checks\d::)?(\w+)(?:<|$)")
MOST_ELEMENTS = 10_000
MOST_CHUNKS = 1 << 16


def plural(count, noun):
    return f"{count} {noun}" + ("" if count == 1 else "s")


def text_of(view):
    """A std::string_view of libstdc++ or libc++."""
    for pointer, length in (("_M_str", "_M_len"), ("__data_", "__size_"), ("__data", "__size")):
        try:
            return printable(view.member(pointer).string(min(view.member(length).number(), 256)))
        except KeyError:
            continue
    return "?"


def atomic_of(value):
    try:
        return value.member("value_").number()
    except KeyError:
        return value.number()


# Pools of one thread.

class Blocks:
    """A block_pool: its figures, and the addresses of its blocks in use."""

    def __init__(self, pool):
        layout = pool.member("layout_")
        self.pool = pool
        self.stride = max(1, layout.member("stride_bytes").number())
        self.capacity = layout.member("capacity").number()
        self.blocks_offset = layout.member("blocks_offset").number()
        self.level0_offset = layout.member("level0_offset").number()
        self.run = (pool.member("run_begin_").number(), pool.member("run_end_").number())
        self.last = pool.member("last_freed_").number()
        free = pool.member("free_in_bits_").number() + (self.run[1] - self.run[0]) // self.stride + (self.last > 1)
        allocated = pool.member("allocated_").number()
        self.taken = allocated - min(free, allocated)
        self.bytes = pool.member("block_bytes_").number()
        segment_bytes = layout.member("segment_bytes").number()
        if self.bytes == 0 or self.blocks_offset + self.capacity * self.stride > segment_bytes:
            raise ValueError(f"damaged: {self.capacity} blocks of {self.bytes} bytes in a chunk of {segment_bytes}")

    def in_use(self):
        segment, seen = self.pool.member("first_"), set()
        while segment.number() != 0 and len(seen) < MOST_CHUNKS:
            begin, inside = segment.number(), segment.deref()
            if begin in seen:
                raise ValueError(f"damaged: the list of chunks leads back to {begin:#x}")
            seen.add(begin)
            words = min(inside.member("groups_used").number(), (self.capacity + 63) // 64)
            level0 = self.pool.read(begin + self.level0_offset, 8 * words)
            for index in range(min(64 * words, self.capacity)):
                block = begin + self.blocks_offset + index * self.stride
                is_free = level0[index // 8] >> (index % 8) & 1 or self.run[0] <= block < self.run[1] or block == self.last
                if not is_free:
                    yield block
            segment = inside.member("next")


def blocks_of(pool):
    try:
        return Blocks(pool.member("blocks_"))
    except KeyError:
        return Blocks(pool)


def pool_text(pool):
    return plural(blocks_of(pool).taken, "object")


def pool_elements(pool):
    return each_of(pool, blocks_of(pool).in_use())


def each_of(value, addresses):
    for count, address in enumerate(addresses):
        if count == MOST_ELEMENTS:
            return
        yield from value.elements(address, 1, 1)


def block_pool_text(pool):
    blocks = Blocks(pool)
    return f"{plural(blocks.taken, 'block')} of {blocks.bytes} bytes"


# Pools of several threads.

def shared_text(pool, noun="object"):
    inner = pool
    try:
        inner = pool.member("blocks_")
    except KeyError:
        pass
    pointer = inner.member("core_")
    if pointer.number() == 0:
        return "no memory"
    core = pointer.deref()
    cached = core.member("stash_count_").number()
    for name in ("first_", "ownerless_"):
        cache, seen = core.member("caches_").member(name), 0
        while cache.number() != 0 and seen < MOST_CHUNKS:
            cached += atomic_of(cache.deref().member("count"))
            cache, seen = cache.deref().member("next"), seen + 1
    taken = Blocks(core.member("blocks_")).taken
    return f"{plural(max(0, taken - cached), noun)}, {min(cached, taken)} cached"


# Pools with handles.

def handle_pool_text(pool):
    slots = pool.member("slots_")
    return f"{plural(slots.member('live_count_').number(), 'object')} in {plural(slots.member('end_').number(), 'slot')}"


def handle_pool_elements(pool):
    slots = pool.member("slots_")
    begin, stride = slots.member("objects_").member("begin_").number(), slots.member("stride_").number()
    end, groups = slots.member("end_").number(), slots.member("groups_").number()
    group_bytes = 2 * 8 + 64 * 4

    def live():
        for index in range(min(end, 1 << 24)):
            if index % 64 == 0:
                bits = int.from_bytes(pool.read(groups + index // 64 * group_bytes, 8), "little")
            if bits >> (index % 64) & 1:
                yield begin + index * stride
    return each_of(pool, live())


def pool_handle_text(value):
    generation = value.member("generation").number()
    return f"slot {value.member('index').number()}, generation {generation}" if generation else "null handle"


# Contiguous elements.

def vector_text(vector):
    return f"{plural(vector.member('size_').number(), 'element')}, room for {vector.member('capacity_').number()}"


def vector_elements(vector):
    begin = vector.member("range_").member("begin_").number()
    return vector.elements(begin, min(vector.member("size_").number(), MOST_ELEMENTS), vector.element_bytes())


def buffer_text(buffer):
    return plural(buffer.member("count_").number(), "element")


def buffer_elements(buffer):
    try:
        begin = buffer.member("first_").number()
    except KeyError:
        begin = buffer.member("memory_").member("pointer").number()
    return buffer.elements(begin, min(buffer.member("count_").number(), MOST_ELEMENTS) if begin else 0,
                           buffer.element_bytes())


def utf8_text(value):
    bytes_ = value.member("bytes_")
    count = bytes_.member("count_").number()
    raw = value.read(bytes_.member("first_").number(), min(count, 4096)) if count else b""
    return '"' + printable(raw.decode("utf-8", "replace")) + '"'


# Others.

def heap_text(heap):
    home = heap.member("home_")
    if home.number() == 0:
        return "no memory: moved from"
    home = home.deref()
    memory = home.member("core").member("memory_")
    return (f'"{text_of(home.member("name"))}", {atomic_of(memory.member("reserved_bytes_"))} bytes reserved, '
            f"{atomic_of(memory.member('in_use_bytes_'))} bytes of pages and blocks in use")


def arena_text(arena):
    cursor, limit = arena.member("cursor_").number(), arena.member("limit_").number()
    return f"next block at {cursor:#x}, {limit - cursor} bytes left in its chunk" if limit else "empty"


def handle_text(value):
    entry = value.member("entry").number()
    if entry == 0:
        return "null handle"
    return (f"{value.member('bytes').number()} bytes at {value.member('pointer').number():#x}, entry {entry}, "
            f"generation {value.member('generation').number()}")


def tag_text(value):
    number = value.member("id_").number()
    return f"tag {number}" if number else "no tag"


def tag_scope_text(value):
    return f"the tag before was {value.member('before_').number()}"


def temp_scope_text(value):
    if value.member("cursor_").number() == 0:
        return "frees all of Temp"
    return f"frees Temp from {value.member('cursor_').number():#x} on, chunk {value.member('chunk_').number()}"


def offset_range_text(value):
    number = value.member("id").number()
    return "empty" if number == 0xFFFF_FFFF else f"offset {value.member('offset').number()}, record {number}"


def group_text(value):
    return f'"{text_of(value.member("name_"))}"'


# From a type's name to its text and, for containers, its elements.
PRINTERS = {
    "pool": (pool_text, pool_elements),
    "block_pool": (block_pool_text, None),
    "shared_pool": (shared_text, None),
    "shared_block_pool": (lambda pool: shared_text(pool, "block"), None),
    "handle_pool": (handle_pool_text, handle_pool_elements),
    "pool_handle": (pool_handle_text, None),
    "stable_vector": (vector_text, vector_elements),
    "fixed_buffer": (buffer_text, buffer_elements),
    "safe_array": (buffer_text, buffer_elements),
    "huge_array": (buffer_text, buffer_elements),
    "fixed_utf8_string": (utf8_text, None),
    "heap": (heap_text, None),
    "arena": (arena_text, None),
    "handle": (handle_text, None),
    "tag": (tag_text, None),
    "tag_scope": (tag_scope_text, None),
    "temp_scope": (temp_scope_text, None),
    "offset_range": (offset_range_text, None),
    "affinity_group": (group_text, None),
}


def find(type_name):
    """The printer of a type: (text, elements or None); None for other types."""
    match = TYPE.match(type_name)
    return PRINTERS.get(match[1]) if match else None


def reader(read_bytes):
    """The read() of a front's values: damaged numbers lead to an error, not to a read of gigabytes."""
    return Memory(read_bytes).read


def text(describe, value):
    """The text of a value. An object that is not yet constructed, or damaged, gets a word instead of an error."""
    try:
        return describe(value)
    except Exception as error:  # of any debugger
        return f"unreadable ({type(error).__name__}: {error})"
