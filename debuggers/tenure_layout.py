# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Reads the layout that the library carries (src/tenure/base/debug_layout.hpp) and records by it.

Needs no debugger and no debug information: a function that reads memory is all. What is read may be damaged or of
another program, so every number is checked before it is used, and every walk has an end.
"""

import struct

VERSION = 1
HEAP_MAGIC = b"TNDEBUGH"
POOL_MAGIC = b"TNDEBUGP"
HEADER = struct.Struct("<8sIIQ10I")
LONGEST_LIST = 1 << 22
LARGEST_READ = 1 << 26
USER_ADDRESSES = 1 << 57


class HeapError(Exception):
    """What was found instead of a heap, as a sentence for the user."""


# What a reader of damaged records may meet: HeapError, and what numbers that make no sense lead to in Python.
DAMAGED = (HeapError, ArithmeticError, LookupError, ValueError, struct.error, RecursionError)


class Memory:
    """The memory of a process or a core file. `read_bytes(address, count)` returns bytes, or raises any exception."""

    def __init__(self, read_bytes):
        self._read = read_bytes

    def read(self, address, count):
        if not 0 <= address < USER_ADDRESSES or not 0 <= count <= LARGEST_READ:
            raise HeapError(f"The records are damaged: they lead to {count} bytes at {address:#x}.")
        try:
            found = bytes(self._read(address, count))
        except Exception as error:  # a debugger's own kind
            raise HeapError(f"The memory at {address:#x} ({count} bytes) cannot be read: {error}") from None
        if len(found) != count:
            raise HeapError(f"The memory at {address:#x} ends after {len(found)} of {count} bytes.")
        return found

    def number(self, address, count):
        return int.from_bytes(self.read(address, count), "little")

    def word(self, address):
        return self.number(address, 8)

    def words(self, address, count):
        return struct.unpack(f"<{count}Q", self.read(address, 8 * count))

    def list_of(self, first, next_offset, what):
        """The records of a linked list. A list that leads back into itself, or has no end, is an error."""
        seen = set()
        while first != 0:
            if first in seen:
                raise HeapError(f"The list of {what} is damaged: it leads back to {first:#x}.")
            if len(seen) == LONGEST_LIST:
                raise HeapError(f"The list of {what} is damaged: it has more than {LONGEST_LIST} entries.")
            seen.add(first)
            yield first
            first = self.word(first + next_offset)


def printable(text):
    """Text from the process's memory: characters that could command a terminal are escaped."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def name_of(raw):
    return raw.split(b"\0", 1)[0].decode("ascii", "replace")


class SizeClass:
    def __init__(self, numbers):
        (self.block_bytes, self.page_slices, self.front_bytes, self.page_blocks, self.rested_offset,
         self.rested_room) = numbers


class Layout:
    """`layout["record.member"]` is a number; `layout.root("heaps")` an address."""

    def __init__(self, memory, address, magic=HEAP_MAGIC):
        raw = memory.read(address, HEADER.size)
        (found, version, self.checks, itself, total, facts, fact_count, fact_bytes, roots, root_count, root_bytes,
         classes, class_count, class_bytes) = HEADER.unpack(raw)
        if found != magic:
            raise HeapError(f"There is no layout of Tenure at {address:#x}: it begins with {found!r}.")
        if version != VERSION:
            raise HeapError(f"The library's layout has version {version}, and this script reads version {VERSION}. "
                            "Use the scripts that were installed with the library.")
        if itself != address:
            raise HeapError(f"The layout at {address:#x} says that it is at {itself:#x}: the library is not loaded "
                            "yet, or the object is damaged. Start the program first.")
        tables = ((facts, fact_count, fact_bytes, 32), (roots, root_count, root_bytes, 32),
                  (classes, class_count, class_bytes, 24))
        for offset, count, each, least in tables:
            if count and (each < least or offset < HEADER.size or offset + count * each > total or total > 1 << 20):
                raise HeapError(f"The layout at {address:#x} is damaged: a table of {count} entries of {each} bytes "
                                f"begins at {offset} in an object of {total} bytes.")
        body = memory.read(address, total)
        self.memory = memory
        self.address = address
        self._facts = {}
        for at in range(facts, facts + fact_count * fact_bytes, fact_bytes):
            self._facts[name_of(body[at:at + 28])] = int.from_bytes(body[at + 28:at + 32], "little")
        self._roots = {}
        for at in range(roots, roots + root_count * root_bytes, root_bytes):
            self._roots[name_of(body[at:at + 24])] = int.from_bytes(body[at + 24:at + 32], "little")
        self.classes = [SizeClass(struct.unpack_from("<6I", body, classes + index * class_bytes))
                        for index in range(class_count)]
        for name, value in self._facts.items():
            is_size = name.endswith(".bytes") or name.startswith("limit.")
            if value > 1 << 26 or (is_size and value == 0):
                raise HeapError(f"The layout at {address:#x} is damaged: {name} is {value}.")
        for each in self.classes:
            if not (0 < each.block_bytes <= 1 << 20 and 0 < each.page_slices <= 64
                    and 0 < each.page_blocks <= 1 << 16):
                raise HeapError(f"The layout at {address:#x} is damaged: a class has blocks of {each.block_bytes} "
                                "bytes.")

    def __getitem__(self, name):
        if name not in self._facts:
            raise HeapError(f"The library's layout does not say {name}. Use the scripts that were installed with the "
                            "library.")
        return self._facts[name]

    def root(self, name):
        if self._roots.get(name, 0) == 0:
            raise HeapError(f"The library's layout has no address for '{name}'. Use the scripts that were installed "
                            "with the library.")
        return self._roots[name]

    def word(self, record, name):
        """The member `name` of a record, 8 bytes."""
        return self.memory.word(record + self[name])

    def number(self, record, name, count):
        return self.memory.number(record + self[name], count)

    def list_of(self, record, first, following, what):
        return self.memory.list_of(self.word(record, first), self[following], what)


def search(memory, begin, end, magic=HEAP_MAGIC):
    """The addresses of layouts in a range, for programs without symbols."""
    step = 1 << 20
    for at in range(begin, end, step):
        try:
            part = memory.read(at, min(step + HEADER.size, end - at))
        except HeapError:
            continue
        found = part.find(magic)
        while found >= 0:
            # The magic also stands in this script's strings, in the program that is debugged by chance, and so on.
            if found % 8 == 0 and found + HEADER.size <= len(part) and \
                    int.from_bytes(part[found + 16:found + 24], "little") == at + found:
                yield at + found
            found = part.find(magic, found + 1)


def bytes_text(count):
    if count < 1024:
        return f"{count} B"
    value = float(count)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if value < 1000 or unit == "TiB":
            return f"{value:.{max(0, 2 - (value >= 10) - (value >= 100))}f} {unit}"
    return ""


def count_text(count, noun):
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
