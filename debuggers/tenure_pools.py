# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Reads pools by the library's layout: pool, shared_pool and handle_pool, with or without a type."""

from collections import namedtuple

from tenure_layout import HeapError

POOL, SHARED, HANDLES = "pool", "shared pool", "handle pool"
Usage = namedtuple("Usage", "kind block_bytes stride_bytes chunks chunk_bytes in_use cached free unused peak")


def kind_of_type(name):
    """The kind of pool that a type's name says, or None."""
    base = name.split("<", 1)[0].rsplit("::", 1)[-1].replace("const", "").strip(" &*")
    return {"pool": POOL, "block_pool": POOL, "shared_pool": SHARED, "shared_block_pool": SHARED,
            "handle_pool": HANDLES}.get(base)


def usage_of(layout, address, kind):
    """What the pool at the address holds."""
    if kind == SHARED:
        return _shared(layout, address)
    return _handles(layout, address) if kind == HANDLES else _pool(layout, address, POOL, 0)


def _pool(layout, pool, kind, cached):
    inner = pool + layout["pool.layout"]
    segment_bytes, stride, capacity = (layout.word(inner, "layout." + name) for name in
                                       ("segment_bytes", "stride_bytes", "capacity"))
    block_bytes = layout.number(pool, "pool.block_bytes", 4)
    allocated, in_bits = layout.word(pool, "pool.allocated"), layout.word(pool, "pool.free_in_bits")
    begin, end = layout.word(pool, "pool.run_begin"), layout.word(pool, "pool.run_end")
    blocks_offset, is_passthrough = layout.word(inner, "layout.blocks_offset"), layout.number(pool, "pool.passthrough", 1)
    is_sound = 0 < block_bytes <= stride <= segment_bytes <= 1 << 40 and 0 < capacity and 0 < blocks_offset and \
        blocks_offset + capacity * stride <= segment_bytes and is_passthrough <= 1 and \
        begin <= end <= begin + segment_bytes
    if not is_sound or segment_bytes & (segment_bytes - 1):
        raise HeapError(f"There is no {kind} at {pool:#x}, or it is damaged: blocks of {block_bytes} bytes, {stride} "
                        f"bytes apart, in chunks of {segment_bytes} bytes.")
    if is_passthrough:
        count = layout.word(pool, "pool.passthrough_count")
        return Usage(kind, block_bytes, stride, 0, 0, max(0, count - cached), cached, 0, 0, count)
    chunks = 0
    for segment in layout.list_of(pool, "pool.first", "segment.next", "the pool's chunks"):
        if segment % segment_bytes:
            raise HeapError(f"The {kind} at {pool:#x} is damaged: a chunk begins at {segment:#x}.")
        chunks += 1
    if allocated > chunks * capacity:
        raise HeapError(f"The {kind} at {pool:#x} is damaged: {allocated} blocks were allocated, and its {chunks} "
                        f"chunks have {chunks * capacity}.")
    last = layout.word(pool, "pool.last_freed") > layout["number.never_a_block"]
    free = min(in_bits + (end - begin) // stride + last, allocated)
    taken = allocated - free
    return Usage(kind, block_bytes, stride, chunks, segment_bytes, max(0, taken - cached), min(cached, taken), free,
                 chunks * capacity - allocated, layout.word(pool, "pool.peak_allocated"))


def _shared(layout, pool):
    core = layout.word(pool, "shared.core")
    if core == 0:
        block_bytes = layout.word(pool, "shared.block_bytes")
        if not 0 < block_bytes <= 1 << 40:
            raise HeapError(f"There is no shared pool at {pool:#x}, or it is damaged: blocks of {block_bytes} bytes.")
        return Usage(SHARED, block_bytes, block_bytes, 0, 0, 0, 0, 0, 0, 0)
    cached = layout.word(core, "core.stash_count")
    if cached > layout["limit.stash"]:
        raise HeapError(f"There is no shared pool at {pool:#x}, or it is damaged: {cached} blocks wait for threads.")
    for name in ("core.caches", "core.ownerless"):
        for cache in layout.list_of(core, name, "cache.next", "the pool's thread caches"):
            count = layout.number(cache, "cache.count", 4)
            if count > layout["limit.cached"]:
                raise HeapError(f"The shared pool at {pool:#x} is damaged: a thread has cached {count} blocks.")
            cached += count
    return _pool(layout, core + layout["core.blocks"], SHARED, cached)


def _handles(layout, slots):
    begin, end, live, stride = (layout.word(slots, "slots." + name) for name in
                                ("begin", "end", "live_count", "stride"))
    guard_bytes = layout.number(slots, "slots.guard_bytes", 4)
    if live > end or end > 1 << 32 or not guard_bytes < stride <= 1 << 30 or (end and not begin):
        raise HeapError(f"There is no handle pool at {slots:#x}, or it is damaged: {live} of {end} slots are live, "
                        f"{stride} bytes apart.")
    if end:  # objects begin at an OS page, and the first group of 64 slots has no more live ones than the pool
        first = layout.word(layout.word(slots, "slots.groups"), "group.live")
        live_first = bin(first).count("1")
        if begin % 4096 or live_first > live:
            raise HeapError(f"There is no handle pool at {slots:#x}, or it is damaged: its objects begin at {begin:#x}, and "
                            f"{live_first} of the first 64 of {live} are live.")
    return Usage(HANDLES, stride - guard_bytes, stride, 1 if end else 0, end * stride, live, 0, end - live, 0, end)
