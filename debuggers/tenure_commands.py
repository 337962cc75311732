# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""The commands `tenure heap`, `tenure block` and `tenure pool`, for any debugger.

A front (tenure_gdb.py, tenure_lldb.py) passes a target with these functions:

    read(address, count)           bytes of the process or the core file; raises any exception
    symbols(name)                  the addresses of a data symbol, one for each module that has it
    data_ranges()                  (begin, end, module) of the modules' initialised data, where layouts are searched for
    place_name(address)            "function in file", or "" if nothing is known
    value(expression)              (address, type name) of a variable; raises any exception
"""

import datetime
import re

import tenure_pools
from tenure_heap import (CACHED, FREE, IN_USE, NEVER_USED, RESTING, UNSURE, Heap, early_memory_at, homes_of, place_in,
                         sample_of)
from tenure_layout import (DAMAGED, HEAP_MAGIC, POOL_MAGIC, HeapError, Layout, Memory, bytes_text, count_text, search)

USAGE = """tenure heap                 memory of each heap, and its blocks by size
tenure block ADDRESS        the block that contains an address: size, state, neighbours, stack
tenure pool VARIABLE        a pool: size of its blocks, chunks, blocks in use"""
OWN_FRAME = re.compile(r"tenure::(v\d+_\d+_checks\d::)?(detail|dropin)::")


def layouts(target, memory, symbol, magic, damage):
    """All copies of the library in the process. Modules whose symbols lead to none are searched.

    Copies that cannot be read, such as those of another release, are left out; their errors are added to `damage`.
    """
    found, failures = {}, []

    def add(address):
        try:
            found[address] = Layout(memory, address, magic)
        except HeapError as error:
            failures.append(error)

    for address in dict.fromkeys(target.symbols(symbol)):
        add(address)
    ranges = list(target.data_ranges())
    known = {module for begin, end, module in ranges for address in found if begin <= address < end}
    for begin, end, module in ranges:
        if module not in known:
            for address in search(memory, begin, end, magic):
                add(address)
    if not found:
        raise failures[0] if failures else HeapError(
            f"The program has no Tenure in it, or it has not started: no object '{symbol}' was found. A core file also "
            "needs the program's own file.")
    damage += [str(each) for each in dict.fromkeys(failures)]
    return list(found.values())


def run(target, words):
    """Runs a command. Returns its output; whatever is wrong becomes a HeapError."""
    commands = {"heap": heap_command, "block": block_command, "pool": pool_command}
    if not words or words[0] not in commands:
        raise HeapError("usage:\n" + USAGE)
    try:
        return "\n".join(commands[words[0]](target, words[1:]))
    except DAMAGED as error:
        raise HeapError(sentence(error)) from None


def sentence(error):
    """What is damaged, for the user."""
    if isinstance(error, HeapError):
        return str(error)
    return (f"The records are damaged, or the process was stopped in the middle of a change: {error}. Let it run on for a "
            "moment, and try again.")


def all_heaps(target, damage):
    """The heaps of all copies of the library. The errors of those that cannot be read are added to `damage`."""
    for layout in layouts(target, Memory(target.read), "tenure_debug_layout", HEAP_MAGIC, damage):
        try:
            for home in homes_of(layout):
                try:
                    heap = Heap(layout, home)
                except DAMAGED as error:
                    damage.append(sentence(error))
                    continue
                yield layout, heap
        except DAMAGED as error:
            damage.append(sentence(error))


class Figures:
    """The memory of one heap, added up."""

    def __init__(self, heap):
        self.sizes = {}  # block bytes: [pages, in use, cached, free]
        self.rows = []   # of larger blocks: (kind, count, bytes, free bytes)
        self.in_use = self.cached = self.free = self.records = self.rest = 0
        self.in_use_count = self.cached_count = 0
        self._add_small(heap)
        self._add_larger(heap)

    def _add_small(self, heap):
        cached_by_page = {}
        segments = list(heap.small_segments())
        for block, state in heap.cached().items():
            cached_by_page.setdefault(block & -(heap.layout["limit.slice_bytes"]), []).append((block, state))
        for segment in segments:
            self.records += segment.head_slices * segment.slice_bytes
            page_bytes = 0
            for page in segment.pages():
                first = segment.address + page.slice * segment.slice_bytes
                cached = sum(len(cached_by_page.get(first + each * segment.slice_bytes, ()))
                             for each in range(page.slices))
                handed = page.used - page.free_count
                if cached > handed:
                    raise HeapError(f"The page at {first:#x} is damaged: threads have cached {cached} of its blocks, and "
                                    f"{handed} have left it.")
                row = self.sizes.setdefault(page.block_bytes, [0, 0, 0, 0])
                for index, value in enumerate((1, handed - cached, cached, page.capacity - handed)):
                    row[index] += value
                whole = page.slices * segment.slice_bytes
                page_bytes += whole
                self.rest += whole - page.capacity * page.block_bytes
            self.free += segment.mapped_bytes - segment.head_slices * segment.slice_bytes - page_bytes
        for size, (_, in_use, cached, free) in self.sizes.items():
            self.in_use += size * in_use
            self.in_use_count += in_use
            self.cached += size * cached
            self.cached_count += cached
            self.free += size * free

    def _add_larger(self, heap):
        self.records += sum(heap.large_head_bytes() for _ in heap.large_segments())
        kinds = {}
        for block in list(heap.larger()) + list(heap.passthrough()):
            row = kinds.setdefault(block.kind, [0, 0, 0])
            size = block.end - block.begin
            if block.state == IN_USE:
                row[0] += 1
                row[1] += size
                self.in_use += size
                self.in_use_count += 1
            elif block.kind != "guarded":  # the pages of a freed guarded block are not in memory
                row[2] += size
                self.free += size
        self.rows = [(kind, *row) for kind, row in sorted(kinds.items()) if row[0] or row[2]]


def heap_command(target, words):
    """Memory of each heap, and its blocks by size."""
    if words:
        raise HeapError("usage: tenure heap")
    lines, damage = [], []
    for layout, heap in all_heaps(target, damage):
        try:
            lines += heap_lines(layout, heap)
        except DAMAGED as error:
            damage.append(f'The heap "{heap.name}" cannot be shown: {sentence(error)}')
    return shown(lines, damage)


def shown(lines, damage):
    """The lines, and behind them what cannot be read. Nothing but damage is an error."""
    if damage and not lines:
        raise HeapError("\n".join(damage))
    return lines + damage


def heap_lines(layout, heap):
    checks = f", check level {layout.checks}" if layout.checks else ""
    lines = [f'heap "{heap.name}": {bytes_text(heap.reserved_bytes)} reserved now; at most '
             f"{bytes_text(heap.peak_bytes)} in use at one time{checks}"]
    if heap.is_passthrough:
        lines.append("  Its blocks come from the process's malloc (option passthrough)."
                     " Those of the process heap are not listed.")
    figures = Figures(heap)
    cached = "in thread caches" + (" and quarantines" if layout.checks else "")
    for count, text in ((figures.in_use, f"in use: {count_text(figures.in_use_count, 'block')}"),
                        (figures.cached, f"cached: {count_text(figures.cached_count, 'free block')} {cached}"),
                        (figures.free, "free: in pages, between large blocks, and retained huge blocks"),
                        (figures.records, "addresses of the heap's records, most of them untouched"),
                        (figures.rest, "ends of pages, too short for a block")):
        if count or text.startswith("in use"):
            lines.append(f"  {bytes_text(count):>9}  {text}")
    if figures.sizes or figures.rows:
        lines.append(f"  {'block size':>12} {'pages':>8} {'in use':>12} {'cached':>10} {'free':>10} {'bytes in use':>13}")
    for size in sorted(figures.sizes):
        pages, in_use, held, free = figures.sizes[size]
        lines.append(f"  {size:>12,} {pages:>8,} {in_use:>12,} {held:>10,} {free:>10,} {bytes_text(size * in_use):>13}")
    for kind, count, in_use, free in figures.rows:
        lines.append(f"  {kind:>12} {'':>8} {count:>12,} {'':>10} {bytes_text(free):>10} {bytes_text(in_use):>13}")
    if any(kind in ("fenced", "guarded") for kind, *_ in figures.rows):
        lines.append("  Fenced and guarded blocks come on top of what is reserved.")
    return lines


def address_of(target, words, usage):
    if len(words) != 1:
        raise HeapError(f"usage: {usage}")
    text = words[0]
    try:
        return int(text, 0)
    except ValueError:
        raise HeapError(f"'{text}' is not an address: write it as 0x7f0012345678. usage: {usage}") from None


def frame_lines(target, frames):
    """The stack, without the library's own frames at its begin, as far as they have names."""
    named = [(frame, target.place_name(frame - 1)) for frame in frames]  # return addresses lie behind the call
    while len(named) > 1 and OWN_FRAME.match(named[0][1]):
        del named[0]
    return [f"    #{index:<2} {frame:#x}" + (f" {name}" if name else "") for index, (frame, name) in enumerate(named)]


def block_command(target, words):
    """The block that contains an address."""
    address = address_of(target, words, "tenure block ADDRESS")
    damage, lines, layout = [], [], None
    for layout, heap in all_heaps(target, damage):
        try:
            place = place_in(heap, address)
            if place is not None:
                lines = block_lines(target, layout, heap, address, place)
                break
        except DAMAGED as error:
            damage.append(f'The heap "{heap.name}": {sentence(error)}')
    if lines:
        return lines + [f"  elsewhere: {each}" for each in damage]
    if damage:
        raise HeapError(f"{address:#x} was not found in the records that can be read.\n" + "\n".join(damage))
    if layout is not None and early_memory_at(layout, address):
        return [f"{address:#x} may be early memory of the drop-in: it serves libraries that allocate before the drop-in is "
                "loaded, belongs to no heap and is never freed."]
    return [f"{address:#x} is not in the memory of a Tenure heap. Memory of pools, arenas and Temp is not a heap's: see "
            "`tenure pool`."]


def block_lines(target, layout, heap, address, place):
    if place.state is None:
        return [f'{address:#x}: {place.what} of the heap "{heap.name}"'.replace("the heap's records of the heap",
                                                                              "records of the heap")] + \
            ["  " + each for each in place.details]
    offset = address - place.begin
    where = "begin of" if offset == 0 else f"{count_text(offset, 'byte')} inside"
    lines = [f'{address:#x}: {where} a block of {place.end - place.begin:,} bytes, {place.state}, of the heap '
             f'"{heap.name}"', f"  from {place.begin:#x} to {place.end:#x}, {place.what}"]
    stacks = [each for each in place.details if not isinstance(each, str)]
    lines += ["  " + each for each in place.details if isinstance(each, str)]
    lines += [f"  {word}: {begin:#x}, {state}" for word, begin, state in place.neighbours]
    for what, frames in stacks:
        lines.append(f"  {what} at:")
        lines += frame_lines(target, frames)
    try:
        sample = sample_of(layout, place.begin) if place.state in (IN_USE, UNSURE) else None
    except DAMAGED as error:
        sample = None
        lines.append(f"  who allocated it cannot be read: {sentence(error)}")
    if sample is not None:
        at = datetime.datetime.fromtimestamp(min(sample.allocated_ms, 253_402_300_799_000) / 1000,
                                             datetime.timezone.utc)
        lines.append(f"  allocated by thread {sample.thread} at {at:%Y-%m-%d %H:%M:%S} UTC with "
                     f"{count_text(sample.asked_bytes, 'byte')} (heap profile):")
        lines += frame_lines(target, sample.frames)
    return lines


def pool_command(target, words):
    """A pool that a variable or an expression names."""
    usage = "tenure pool VARIABLE, or with an address: tenure pool pool|shared|handles ADDRESS"
    if not words:
        raise HeapError(f"usage: {usage}")
    kinds = {"pool": tenure_pools.POOL, "shared": tenure_pools.SHARED, "handles": tenure_pools.HANDLES}
    if len(words) == 2 and words[0] in kinds:
        kind, address = kinds[words[0]], address_of(target, words[1:], usage)
    else:
        text = " ".join(words)
        try:
            address, type_name = target.value(text)
        except HeapError:
            raise
        except Exception as error:
            raise HeapError(f"'{text}' cannot be evaluated: {error}") from None
        kind = tenure_pools.kind_of_type(type_name)
        if kind is None:
            raise HeapError(f"'{text}' is no pool: it has the type {type_name}. For an address without a type: "
                            "tenure pool pool|shared|handles ADDRESS")
    memory = Memory(target.read)
    # Copies of the library of one check level have the same layout; of two levels, only the right one fits.
    failure = None
    for layout in layouts(target, memory, "tenure_debug_pool_layout", POOL_MAGIC, []):
        try:
            return pool_lines(address, tenure_pools.usage_of(layout, address, kind))
        except HeapError as error:
            failure = error
    raise failure


def pool_lines(address, usage):
    apart = f", {usage.stride_bytes} bytes apart" if usage.stride_bytes != usage.block_bytes else ""
    lines = [f"{usage.kind} at {address:#x}: {count_text(usage.in_use, 'block')} of {usage.block_bytes} bytes in use"
             f"{apart}"]
    if usage.kind == tenure_pools.HANDLES:
        lines.append(f"  {count_text(usage.in_use + usage.free, 'slot')} ({bytes_text(usage.chunk_bytes)}) used at some "
                     f"time; {usage.free:,} free")
        return lines
    lines.append(f"  {count_text(usage.chunks, 'chunk')} of {bytes_text(usage.chunk_bytes)}")
    for count, text in ((usage.cached, "cached for threads"), (usage.free, "free"), (usage.unused, NEVER_USED)):
        if count:
            lines.append(f"  {count_text(count, 'block')} {text}")
    return lines


__all__ = ["run", "layouts", "USAGE", "HeapError", "CACHED", "FREE", "RESTING"]
