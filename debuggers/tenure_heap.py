# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Reads the heaps of a process by the library's layout: their segments, pages, blocks and thread caches."""

from collections import namedtuple
from functools import partial

from tenure_layout import DAMAGED, HeapError, bytes_text, printable

BITS = 64
IN_USE, CACHED, RESTING, FREE, NEVER_USED = "in use", "cached", "in quarantine", "free", "never used"
UNSURE = "in use or cached"  # where the thread caches are damaged
AGES = ("changed since the last sweep", "unchanged for one sweep", "free parts returned to the system")

# A page of small blocks.
Page = namedtuple("Page", "slice slices begin block_bytes capacity free_count used class_index age samples owner bits")
# Blocks past the small ones, and those of their own kinds; `end` is that of the usable bytes.
Larger = namedtuple("Larger", "begin end state kind tag stacks")


class SmallSegment:
    """A segment of pages of small blocks."""

    def __init__(self, heap, address):
        layout = heap.layout
        self.heap, self.address = heap, address
        self.mapped_bytes = layout.word(address, "segment.mapped_bytes")
        slice_bytes = layout["limit.slice_bytes"]
        if address % heap.segment_bytes or not 0 < self.mapped_bytes <= heap.segment_bytes or \
                self.mapped_bytes % slice_bytes:
            raise HeapError(f"The segment at {address:#x} is damaged: {self.mapped_bytes:#x} bytes of it are mapped.")
        self.slice_bytes = slice_bytes
        self.slices = self.mapped_bytes // slice_bytes
        self.head_slices = min(layout[f"head_slices.{heap.exponent}"], self.slices)
        self.numbers = layout.memory.read(address + layout["head.class_of_slice"], self.slices)
        self._records = layout.memory.read(address + layout["segment.pages"], self.slices * layout["page.bytes"])
        self._first = layout.memory.read(address + layout["segment.first_slice"], 2 * self.slices)

    def is_page(self, number):
        layout = self.heap.layout
        classes, counted = layout["number.classes"], layout["number.counted_classes"]
        return number < classes or counted <= number < counted + classes or \
            number in (layout["number.tagged"], layout["number.watched"])

    def page_at(self, index):
        """The page whose first slice this is."""
        layout = self.heap.layout
        base = index * layout["page.bytes"]

        def number(name, count):
            at = base + layout[name]
            return int.from_bytes(self._records[at:at + count], "little")

        class_index = number("page.class_index", 1)
        if class_index >= len(layout.classes):
            raise HeapError(f"The page at {self.address + index * self.slice_bytes:#x} is damaged: it has size class "
                            f"{class_index} of {len(layout.classes)}.")
        size = layout.classes[class_index]
        capacity, words = number("page.capacity", 2), number("page.words_used", 1)
        page = Page(index, size.page_slices, number("page.begin", 8), number("page.block_bytes", 4), capacity,
                    number("page.free_count", 2), min(words * BITS, capacity), class_index, number("page.age", 1),
                    number("page.samples_and_tagged", 1) & 127, number("page.owner", 8), number("page.bits", 8))
        first = self.address + index * self.slice_bytes
        if page.block_bytes != size.block_bytes or page.begin != first + size.front_bytes or \
                page.capacity != size.page_blocks or page.free_count > page.used or \
                index + size.page_slices > self.slices or words > layout["limit.page_words"] or \
                not self.address <= page.bits < self.address + self.head_slices * self.slice_bytes:
            raise HeapError(f"The page at {first:#x} is damaged: {page.capacity} blocks of {page.block_bytes} bytes from "
                            f"{page.begin:#x} on, {page.free_count} of {page.used} free.")
        return page

    def pages(self):
        index = self.head_slices
        while index < self.slices:
            if not self.is_page(self.numbers[index]):
                index += 1
                continue
            page = self.page_at(index)
            yield page
            index += page.slices

    def page_of(self, address):
        """The page that contains the address, or None."""
        index = (address - self.address) // self.slice_bytes
        if index < self.head_slices or not self.is_page(self.numbers[index]):
            return None
        first = int.from_bytes(self._first[2 * index:2 * index + 2], "little")
        if not self.head_slices <= first <= index:
            raise HeapError(f"The segment at {self.address:#x} is damaged: slice {index} belongs to a page at {first}.")
        return self.page_at(first)

    def free_bits(self, page):
        """One bit per block: the blocks that are in the page, be they freed or not allocated yet."""
        words = (page.used + BITS - 1) // BITS
        return int.from_bytes(self.heap.layout.memory.read(page.bits, 8 * words), "little")

    def states(self, page, cached, otherwise=IN_USE):
        """The state of each block of the page. `cached` is heap.cached(); `otherwise` the state of blocks not in it."""
        free = self.free_bits(page)
        for index in range(page.capacity):
            if index >= page.used:
                yield NEVER_USED
            elif free >> index & 1:
                yield FREE
            else:
                yield cached.get(page.begin + index * page.block_bytes, otherwise)


class Heap:
    """One heap of the process."""

    def __init__(self, layout, home):
        self.layout, self.home = layout, home
        self.core = home + layout["home.core"]
        self.name = self._read_name(home + layout["home.name"])
        memory = self.core + layout["core.memory"]
        self.segment_bytes = layout.word(memory, "memory.segment_bytes")
        least, most = layout["limit.segment_bytes_least"], layout["limit.segment_bytes"]
        if not least <= self.segment_bytes <= most or self.segment_bytes & (self.segment_bytes - 1):
            raise HeapError(f"The heap at {home:#x} is damaged: its segments have {self.segment_bytes:#x} bytes.")
        self.exponent = self.segment_bytes.bit_length() - 1
        self.reserved_bytes = layout.word(memory, "memory.reserved_bytes")
        self.peak_bytes = layout.word(memory, "memory.peak_bytes")
        self.is_passthrough = layout.number(self.core, "core.origin", 1) == layout["number.origin_malloc"]
        self._cached = None

    def _read_name(self, at):
        # A pointer and a length, in the order of the standard library that the heap was compiled with.
        first, second = self.layout.memory.words(at, 2)
        length, pointer = (first, second) if first < second else (second, first)
        if length > 256:
            return "(unreadable name)"
        try:
            return printable(self.layout.memory.read(pointer, length).decode("utf-8", "replace"))
        except HeapError:
            return "(unreadable name)"

    def small_segments(self, around=None):
        """The segments of small blocks; with an address, only the one around it."""
        pages = self.core + self.layout["core.pages"]
        for each in self.layout.list_of(pages, "pages.first", "segment.next", "segments"):
            if around is None or each == around & -self.segment_bytes:
                yield SmallSegment(self, each)

    def caches(self):
        """The addresses of all thread caches, also those that no thread uses at the moment."""
        small = self.core + self.layout["core.small"]
        return self.layout.list_of(small, "small.caches", "cache.next", "thread caches")

    def cached(self):
        """The free blocks in thread caches and quarantines: from address to state."""
        found, failure = self.readable_cached()
        if failure is not None:
            raise failure
        return found

    def readable_cached(self):
        """As cached(), without the caches that are damaged; and the first error among those, or None."""
        if self._cached is None:
            found, failure = {}, None
            try:
                for cache in self.caches():
                    try:
                        self._add_cached(cache, found)
                    except DAMAGED as error:
                        failure = failure or error
            except DAMAGED as error:
                failure = failure or error
            self._cached = found, failure
        return self._cached

    def _add_cached(self, cache, to):
        layout, memory = self.layout, self.layout.memory
        each_bytes, count_at, blocks_at = (layout["block_cache." + name] for name in ("bytes", "count", "blocks"))
        entries = memory.read(cache + layout["cache.of_class"], each_bytes * layout["number.all"])
        for base in range(0, len(entries), each_bytes):
            count = int.from_bytes(entries[base + count_at:base + count_at + 4], "little")
            if count > layout["limit.cached"]:
                raise HeapError(f"The thread cache at {cache:#x} is damaged: {count} blocks of one size.")
            if count:
                blocks = int.from_bytes(entries[base + blocks_at:base + blocks_at + 8], "little")
                to.update((each, CACHED) for each in memory.words(blocks, count))
        resting = layout.word(cache, "cache.resting")
        if resting == 0:
            return
        for index, size in enumerate(layout.classes):
            ring = resting + layout["quarantine.rings"] + index * layout["ring.bytes"]
            count, first = layout.number(ring, "ring.count", 4), layout.number(ring, "ring.first", 4)
            if count > size.rested_room:
                raise HeapError(f"The quarantine at {resting:#x} is damaged: {count} blocks of one size.")
            if count == 0:
                continue
            places = memory.words(resting + layout["quarantine.blocks"] + 8 * size.rested_offset, size.rested_room)
            to.update((places[(first + each) % size.rested_room], RESTING) for each in range(count))

    def larger(self):
        """Blocks past the small ones, in use and free, and blocks of special kinds."""
        for kind in self.larger_kinds():
            yield from kind

    def larger_kinds(self):
        return self._large(), self._huge(), self._sampled(), self._guarded(), self._fenced()

    def large_segments(self):
        large, layout = self.core + self.layout["core.large"], self.layout
        for address in layout.list_of(large, "large.first", "large_segment.next", "segments of large blocks"):
            units = layout.word(address, "large_segment.units")
            if address % self.segment_bytes or units * layout["limit.unit_bytes"] > self.segment_bytes:
                raise HeapError(f"The segment of large blocks at {address:#x} is damaged: {units} units are mapped.")
            yield address, units

    def large_head_bytes(self):
        return self.layout[f"large_head_units.{self.exponent}"] * self.layout["limit.unit_bytes"]

    def _large(self):
        layout, unit_bytes = self.layout, self.layout["limit.unit_bytes"]
        head, each_bytes = layout[f"large_head_units.{self.exponent}"], layout["run.bytes"]
        for address, units in self.large_segments():
            records = layout.memory.read(address + layout["large_segment.runs"], units * each_bytes)

            def number(unit, name, count, records=records):
                at = unit * each_bytes + layout[name]
                return int.from_bytes(records[at:at + count], "little")

            at = head
            while at < units:
                count, is_free = number(at, "run.units", 4), number(at, "run.is_free", 1) != 0
                if count == 0 or at + count > units:
                    raise HeapError(f"The segment of large blocks at {address:#x} is damaged: unit {at} begins "
                                    f"{count} units.")
                begin = address + at * unit_bytes
                yield Larger(begin, begin + count * unit_bytes, FREE if is_free else IN_USE, "large",
                             0 if is_free else number(at, "run.tag", 2), ())
                at += count

    def _huge(self):
        layout, huge = self.layout, self.core + self.layout["core.huge"]
        for name, state in (("huge.live", IN_USE), ("huge.kept", FREE)):
            for head in layout.list_of(huge, name, "huge_block.next", "huge blocks"):
                mapped, mapped_bytes, lead, size = (layout.word(head, "huge_block." + each) for each in
                                                    ("mapped", "mapped_bytes", "lead_bytes", "size"))
                if lead > mapped_bytes or size > mapped_bytes - lead:
                    raise HeapError(f"The huge block at {head:#x} is damaged: {size} bytes of {mapped_bytes} mapped.")
                begin, last = mapped + lead, mapped + mapped_bytes
                unit_bytes = layout["limit.unit_bytes"]
                end = last if state == FREE else min(last, (begin + size + unit_bytes - 1) // unit_bytes * unit_bytes)
                yield Larger(begin, end, state, "huge",
                             0 if state == FREE else layout.number(head, "huge_block.tag", 2), ())
                if end != last:
                    yield Larger(end, last, FREE, "room", 0, ())  # touched when the block was larger, or to grow

    def _sampled(self):
        layout, sampled = self.layout, self.core + self.layout["core.sampled"]
        table = layout.word(sampled, "sampled.table")
        if table == 0:
            return
        for index in range(min(layout["limit.sampled_records"], 1 << 16)):
            record = table + layout["sampled_table.records"] + index * layout["sampled_record.bytes"]
            state = layout.number(record, "sampled_record.state", 1)
            is_live, is_freed = state == layout["number.sampled_live"], state == layout["number.sampled_freed"]
            if not is_live and not is_freed:
                continue
            begin = layout.word(record, "sampled_record.block")
            stacks = [("allocated", self._trace(record + layout["sampled_record.allocated"]))]
            if is_freed:
                stacks.append(("freed", self._trace(record + layout["sampled_record.freed"])))
            yield Larger(begin, begin + layout.word(record, "sampled_record.size"), IN_USE if is_live else FREE,
                         "guarded", 0, stacks)

    def _trace(self, trace):
        count = min(self.layout.word(trace, "call_trace.count"), self.layout["limit.trace_frames"])
        return self.layout.memory.words(trace + self.layout["call_trace.frames"], count)

    def _guarded(self):
        layout, guarded = self.layout, self.core + self.layout["core.guarded"]
        places = layout.word(guarded, "guarded.places")
        for index in range(min(layout["limit.guarded_places"], 1 << 16) if places else 0):
            place = places + index * layout["guarded_place.bytes"]
            begin = layout.word(place, "guarded_place.block")
            if begin != 0:
                is_live = layout.number(place, "guarded_place.is_live", 1) != 0
                yield Larger(begin, begin + layout.word(place, "guarded_place.size"), IN_USE if is_live else FREE,
                             "guarded", 0, ())

    def _fenced(self):
        layout, fenced = self.layout, self.core + self.layout["core.fenced"]
        for record in layout.list_of(fenced, "fenced.first", "fenced_record.next", "fenced blocks"):
            begin = layout.word(record, "fenced_record.range") + layout["limit.unit_bytes"]  # behind a guard page
            yield Larger(begin, begin + layout.word(record, "fenced_record.size"), IN_USE, "fenced", 0, ())

    def passthrough(self):
        """Blocks of malloc, for heaps under passthrough: those of the process heap are not listed."""
        layout, first = self.layout, self.core + self.layout["core.passthrough"]
        for node in layout.list_of(first, "passthrough.first", "passthrough_node.next", "blocks from malloc"):
            begin = node + layout["passthrough_node.bytes"]
            yield Larger(begin, begin + layout.word(node, "passthrough_node.size"), IN_USE, "malloc", 0, ())


def heaps_of(layout):
    """All heaps of a copy of the library: the process heap first."""
    return (Heap(layout, home) for home in homes_of(layout))


def homes_of(layout):
    """The addresses of the heaps' records."""
    lists, owners = layout.root("heaps"), layout.root("owners")
    yield layout.word(lists, "heap_list.process")
    first = layout.word(owners, "owner_list.first")
    count = layout.memory.word(layout.word(owners, "owner_list.past_last"))
    if count > layout["limit.owners"]:
        raise HeapError(f"The list of heaps is damaged: it has {count} entries of at most {layout['limit.owners']}.")
    each_bytes, owner_at, function_at = (layout.number(owners, "owner_list." + name, 4) for name in
                                         ("entry_bytes", "owner_offset", "function_offset"))
    wanted = layout.word(lists, "heap_list.end_of_slot")
    for entry in range(first, first + count * max(each_bytes, 1), max(each_bytes, 1)):
        owner, function = layout.memory.word(entry + owner_at), layout.memory.word(entry + function_at)
        if function == wanted and owner != 0:
            yield owner


def tag_name(layout, number):
    """"name (tag 5)", or "tag 5" without a readable name."""
    plain = f"tag {number}"
    try:
        name = _name_of_tag(layout, number)
    except DAMAGED:
        return plain
    return f"{printable(name)} ({plain})" if name else plain


def _name_of_tag(layout, number):
    tags = layout.root("tags")
    if number < 2 or number >= layout.number(tags, "tag_list.count", 4):
        return ""
    each_bytes, text_at, length_at = (layout.number(tags, "tag_list." + name, 4) for name in
                                      ("entry_bytes", "text_offset", "length_offset"))
    entry = layout.word(tags, "tag_list.first") + number * each_bytes
    text, length = layout.memory.word(entry + text_at), layout.memory.word(entry + length_at)
    if text == 0 or not 0 < length <= 256:
        return ""
    return layout.memory.read(text, length).decode("utf-8", "replace")


Sample = namedtuple("Sample", "address asked_bytes allocated_ms thread tag frames")


def _array(layout, array, each_bytes):
    data, count = layout.word(array, "array.data"), layout.word(array, "array.count")
    if count * each_bytes > 1 << 32:
        raise HeapError(f"The records of the heap profile are damaged: an array has {count} entries.")
    return data, count


def sample_of(layout, address):
    """What a running heap profile has recorded of the block that begins at the address, or None."""
    profile = layout.root("profile")
    each = layout["live.bytes"]
    data, count = _array(layout, profile + layout["profile.live"], each)
    step = max(1, (1 << 20) // each)
    wanted = address.to_bytes(8, "little")
    for first in range(0, count, step):
        part = layout.memory.read(data + first * each, min(step, count - first) * each)
        at = part.find(wanted)
        while at >= 0:
            record = at - layout["live.address"]
            if record >= 0 and record % each == 0 and part[record + layout["live.is_live"]]:
                return _sample_at(layout, data + first * each + record)
            at = part.find(wanted, at + 1)
    return None


def _sample_at(layout, record):
    profile = layout.root("profile")
    sites, site_count = _array(layout, profile + layout["profile.sites"], layout["site.bytes"])
    index = layout.number(record, "live.site", 4)
    frames = ()
    if index < site_count:
        site = sites + index * layout["site.bytes"]
        first, count = layout.word(site, "site.first_frame"), layout.number(site, "site.frame_count", 4)
        all_frames, frame_count = _array(layout, profile + layout["profile.frames"], 8)
        if first + count > frame_count or count > 4096:
            raise HeapError(f"The records of the heap profile are damaged: a stack has {count} frames.")
        frames = layout.memory.words(all_frames + 8 * first, count)
    return Sample(layout.word(record, "live.address"), layout.word(record, "live.asked_bytes"),
                  layout.word(record, "live.allocated_ms"), layout.word(record, "live.thread"),
                  layout.number(record, "live.tag", 4), frames)


Place = namedtuple("Place", "begin end state what details neighbours")


def _around(begin_of, states, index):
    found = []
    for word, each in (("in front", index - 1), ("behind", index + 1)):
        if 0 <= each < len(states):
            found.append((word, begin_of(each), states[each]))
    return found


def _place_in_page(heap, segment, page, address):
    size = page.block_bytes
    index = (address - page.begin) // size
    details = []
    cached, failure = heap.readable_cached()
    states = list(segment.states(page, cached, UNSURE if failure else IN_USE))
    counts = {state: states.count(state) for state in (IN_USE, UNSURE, CACHED, RESTING, FREE, NEVER_USED)}
    told = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    age = AGES[page.age] if page.age < len(AGES) else "age unknown"
    first = segment.address + page.slice * segment.slice_bytes
    details.append(f"page of {bytes_text(page.slices * segment.slice_bytes)} at {first:#x}: {page.capacity} blocks of "
                   f"size class {page.class_index}, {age}")
    details.append(f"  {told}")
    if failure is not None:
        details.append(f"the thread caches are damaged: {failure}")
    if page.samples:
        details.append(f"blocks of the page in the heap profile: {page.samples}")
    tag = heap.layout.number(page.owner, "shard.tag", 2) if page.owner else 0
    if tag:
        details.append("owner tag: " + tag_name(heap.layout, tag))
    if not 0 <= index < page.capacity:
        return Place(address, address, None, "between the blocks of a page", details, [])
    begin = page.begin + index * size
    return Place(begin, begin + size, states[index], f"block {index} of its page", details,
                 _around(lambda each: page.begin + each * size, states, index))


def place_in(heap, address):
    """Where the address is in the heap's memory, or None. What is damaged elsewhere in the heap does not matter."""
    larger = [partial(_in_larger, blocks=kind) for kind in heap.larger_kinds()]
    failure = None
    for search in (_in_small, *larger, _in_large_heads, _in_passthrough):
        try:
            place = search(heap, address)
        except DAMAGED as error:
            failure = failure or error
            continue
        if place is not None:
            return place
    if failure is not None:
        raise failure
    return None


def _in_small(heap, address):
    for segment in heap.small_segments(address):
        if segment.address <= address < segment.address + segment.mapped_bytes:
            page = segment.page_of(address)
            if page is not None:
                return _place_in_page(heap, segment, page, address)
            is_head = address < segment.address + segment.head_slices * segment.slice_bytes
            what = "the heap's records" if is_head else "free pages"
            return Place(address, address, None, what, [], [])
    return None


def _in_larger(heap, address, blocks):
    before = None
    for block in blocks:
        if block.begin <= address < block.end or block.begin == address:
            if block.kind == "room":
                return Place(address, address, None, "room behind a huge block", [], [])
            neighbours = [("in front", before.begin, before.state)] if before and before.end == block.begin else []
            if block.kind == "large":
                behind = next((each for each in heap._large() if each.begin == block.end), None)
                neighbours += [("behind", behind.begin, behind.state)] if behind else []
            details = ["owner tag: " + tag_name(heap.layout, block.tag)] if block.tag else []
            return Place(block.begin, block.end, block.state, f"a {block.kind} block", details + list(block.stacks),
                         neighbours)
        before = block
    return None


def _in_large_heads(heap, address):
    for segment, _ in heap.large_segments():
        if segment <= address < segment + heap.large_head_bytes():
            return Place(address, address, None, "the heap's records", [], [])
    return None


def early_memory_at(layout, address):
    """Whether the address may be in the drop-in's early memory: like a segment, all of whose slices have no blocks."""
    most_bytes = layout["limit.segment_bytes"]
    slices = most_bytes // layout["limit.slice_bytes"]
    try:
        numbers = layout.memory.read((address & -most_bytes) + layout["head.class_of_slice"], slices)
    except HeapError:
        return False
    return numbers == bytes([layout["number.none"]]) * slices


def _in_passthrough(heap, address):
    for block in heap.passthrough():
        if block.begin <= address < block.end:
            return Place(block.begin, block.end, IN_USE, "a block from malloc (passthrough)", [], [])
    return None
