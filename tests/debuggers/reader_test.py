#!/usr/bin/env python3
# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Tests the reader of debuggers/ without a debugger, on the memory of a waiting program and on damaged copies of it.

usage: reader_test.py DEBUGGED_PROGRAM
"""

import os
import random
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "debuggers"))
import tenure_commands  # noqa: E402
import tenure_pools  # noqa: E402
import tenure_printers  # noqa: E402
from expected import Expected  # noqa: E402
from tenure_heap import IN_USE, heaps_of, place_in, sample_of  # noqa: E402
from tenure_layout import HEAP_MAGIC, HeapError, Layout, Memory, printable, search  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""


class Process:
    """A waiting debugged_program, and its memory with changes that only the reader sees."""

    def __init__(self, program, **environment):
        self.folder = tempfile.TemporaryDirectory()
        path = os.path.join(self.folder.name, "expected")
        self.child = subprocess.Popen([program, path, "wait"], stdin=subprocess.PIPE, cwd=self.folder.name,
                                      env={**os.environ, "TENURE_LEAK_CHECK": "0", **environment})
        end = time.monotonic() + 60
        while not (os.path.exists(path) and Expected(path).is_done):
            if self.child.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{program} did not get ready: status {self.child.returncode}")
            time.sleep(0.02)
        self.expected = Expected(path)
        try:
            self.file = open(f"/proc/{self.child.pid}/mem", "rb", buffering=0)
        except PermissionError:
            self.child.communicate()
            print("left out: the memory of another process cannot be read here")
            sys.exit(77)
        self.changes = {}
        self.modules = []     # what data_ranges() answers
        self.fake = None      # address and contents of memory that the program does not have
        self.symbols_at = {}  # what symbols() answers, if not the truth

    def end(self):
        self.file.close()
        self.child.communicate()
        self.folder.cleanup()

    def plain(self, address, count):
        return os.pread(self.file.fileno(), count, address)

    def read(self, address, count):
        if self.fake and self.fake[0] <= address < address + count <= self.fake[0] + len(self.fake[1]):
            return self.fake[1][address - self.fake[0]:][:count]
        found = bytearray(self.plain(address, count))
        for at, value in self.changes.items():
            if address <= at < address + len(found):
                found[at - address] = value
        return bytes(found)

    def change(self, address, value, count):
        for each, byte in enumerate(value.to_bytes(count, "little")):
            self.changes[address + each] = byte

    # As a target of tenure_commands.
    def symbols(self, name):
        return self.symbols_at.get(name, [self.expected.layouts["pool" if "pool" in name else "heap"]])

    def data_ranges(self):
        return self.modules

    def place_name(self, address):
        return ""

    def value(self, expression):
        raise ValueError("there are no variables")


class ReaderTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.process = Process(PROGRAM)

    @classmethod
    def tearDownClass(cls):
        cls.process.end()

    def setUp(self):
        self.process.changes, self.process.modules, self.process.symbols_at = {}, [], {}
        self.expected = self.process.expected

    def layout(self):
        return Layout(Memory(self.process.read), self.expected.layouts["heap"])

    def heap(self, name="watched"):
        return next(each for each in heaps_of(self.layout()) if each.name == name)

    def run_command(self, *words):
        return tenure_commands.run(self.process, list(words))

    def refused(self, *words):
        with self.assertRaises(HeapError) as caught:
            self.run_command(*words)
        return str(caught.exception)

    def damaged(self, *words):
        """What is said of damage, be it an error or beside what can be shown."""
        try:
            return self.run_command(*words)
        except HeapError as error:
            return str(error)

    def small_block(self, heap="watched", least=700, most=768):
        return next(each for each in self.expected.blocks if each.heap == heap and least <= each.bytes <= most)

    def test_the_heaps_are_found_by_name(self):
        self.assertEqual([each.name for each in heaps_of(self.layout())], ["process", "watched"])

    def test_blocks_have_the_state_and_the_size_that_the_program_knows(self):
        for block in self.expected.blocks:
            place = place_in(self.heap(block.heap), block.address)
            self.assertEqual(place.state, block.state, block)
            self.assertEqual(place.begin if block.bytes else block.address, block.address)
            if block.bytes and self.layout().checks == 0:
                self.assertEqual(place.end - place.begin, block.bytes, block)
            self.assertGreaterEqual(place.end - place.begin, block.bytes)  # checked builds add guard bytes

    def test_an_address_inside_a_block_leads_to_its_begin(self):
        for block in self.expected.blocks:
            if block.bytes > 1:
                self.assertEqual(place_in(self.heap(block.heap), block.address + block.bytes - 1).begin, block.address)

    def test_the_figures_of_a_heap_are_those_of_the_library(self):
        figures = tenure_commands.Figures(self.heap())
        self.assertEqual({size: (row[1], row[2]) for size, row in figures.sizes.items() if row[1]}, self.expected.sizes)
        count, reserved = self.expected.totals["watched"]
        self.assertEqual(figures.in_use_count, count)
        self.assertEqual(self.heap().reserved_bytes, reserved)
        parts = figures.in_use + figures.cached + figures.free + figures.records + figures.rest
        huge_heads = 32 * 1024 * 1024  # in front of the one huge block, at most
        self.assertLessEqual(parts, reserved)
        self.assertGreater(parts, reserved - huge_heads)

    def test_pools_have_what_the_program_knows(self):
        for pool in self.expected.pools:
            text = self.run_command("pool", pool.kind, hex(pool.address))
            self.assertIn(f"{pool.in_use} block{'s' * (pool.in_use != 1)} of {pool.block_bytes} bytes in use", text)

    def test_neighbours_are_those_of_the_page(self):
        block = next(each for each in self.expected.blocks if 700 <= each.bytes <= 768)
        place = place_in(self.heap(), block.address)
        self.assertNotEqual(place.neighbours, [])
        for word, begin, state in place.neighbours:
            size = place.end - place.begin
            self.assertEqual(begin, block.address + (size if word == "behind" else -size))
            self.assertEqual(state, place_in(self.heap(), begin).state)

    def test_the_parts_of_a_page_are_told_apart(self):
        block = next(each for each in self.expected.blocks if 700 <= each.bytes <= 768)
        segment = next(each for each in self.heap().small_segments() if each.page_of(block.address))
        page = segment.page_of(block.address)
        self.assertEqual(place_in(self.heap(), segment.address + 100).what, "the heap's records")
        self.assertEqual(place_in(self.heap(), page.begin + page.capacity * page.block_bytes + 8).what, "between the blocks of a page")
        self.assertEqual(place_in(self.heap(), segment.address + segment.mapped_bytes - 1).what, "free pages")

    def test_a_foreign_address_is_not_the_heaps(self):
        for address in (0, 8, 1 << 46, self.expected.layouts["heap"]):
            self.assertIn("not in the memory of a Tenure heap", self.run_command("block", hex(address)))

    def test_the_magic_is_found_without_a_symbol(self):
        at = self.expected.layouts["heap"]
        found = list(search(Memory(self.process.read), at - at % 4096, at + 8192))
        self.assertEqual(found, [at])

    def test_wrong_words_are_refused_with_the_usage(self):
        self.assertIn("usage", self.refused())
        self.assertIn("usage", self.refused("heaps"))
        self.assertIn("usage", self.refused("heap", "all"))
        self.assertIn("not an address", self.refused("block", "here"))
        self.assertIn("cannot be evaluated", self.refused("pool", "monsters"))

    def test_a_pool_of_the_wrong_kind_is_refused(self):
        at = hex(self.expected.layouts["heap"])
        for kind in ("pool", "shared", "handles"):
            self.refused("pool", kind, at)

    # Damaged data.

    def test_a_foreign_object_is_refused(self):
        self.process.change(self.expected.layouts["heap"], 0, 8)
        self.assertIn("no layout of Tenure", self.refused("heap"))

    def test_another_version_is_refused(self):
        self.process.change(self.expected.layouts["heap"] + 8, 2, 4)
        self.assertIn("has version 2, and this script reads version 1", self.refused("heap"))

    def test_an_object_that_is_not_relocated_is_refused(self):
        self.process.change(self.expected.layouts["heap"] + 16, 0x1234, 8)
        self.assertIn("not loaded yet", self.refused("heap"))

    def test_tables_outside_of_the_object_are_refused(self):
        for field in range(28, 64, 4):
            self.process.changes = {}
            self.process.change(self.expected.layouts["heap"] + field, 0x7FFF_FFFF, 4)
            self.assertIn("damaged", self.refused("heap"), field)

    # Several copies of the library.

    def copy_of_the_layout(self):
        """Another copy, which only the reader sees, in memory of the program that is not a module's."""
        total = int.from_bytes(self.process.plain(self.expected.layouts["heap"] + 24, 4), "little")
        place = next(each.address for each in self.expected.blocks if each.bytes >= 50_000_000) + (1 << 20)
        body = bytearray(self.process.plain(self.expected.layouts["heap"], total))
        body[16:24] = place.to_bytes(8, "little")
        self.process.changes.update(enumerate(body, place))
        return place, place + total

    def layouts(self):
        damage = []
        found = tenure_commands.layouts(self.process, Memory(self.process.read), "tenure_debug_layout", HEAP_MAGIC, damage)
        return [each.address for each in found], damage

    def test_a_copy_that_cannot_be_read_does_not_hide_the_others(self):
        begin, _ = self.copy_of_the_layout()
        self.process.change(begin + 8, 2, 4)
        self.process.symbols_at = {"tenure_debug_layout": [begin, self.expected.layouts["heap"]]}
        text = self.run_command("heap")
        self.assertIn('heap "watched": ', text)
        self.assertIn("has version 2, and this script reads version 1", text)

    def test_modules_without_a_symbol_are_searched(self):
        at = self.expected.layouts["heap"]
        begin, end = self.copy_of_the_layout()
        self.process.modules = [(at - 4096, at + 4096, "one"), (begin - 64, end, "two")]
        self.assertEqual(self.layouts(), ([at, begin], []))
        self.process.symbols_at = {"tenure_debug_layout": [at + 8]}  # a symbol that leads nowhere
        found, damage = self.layouts()
        self.assertEqual(found, [at, begin])
        self.assertIn("no layout of Tenure", damage[0])

    def test_a_missing_name_is_said(self):
        layout = self.layout()
        at = self.process.plain(layout.address, 1 << 13).index(b"page.capacity\0")
        self.process.change(layout.address + at, ord("x"), 1)
        self.assertIn("does not say page.capacity", self.refused("heap"))

    def test_a_list_that_leads_back_is_refused(self):
        segment = next(self.heap().small_segments()).address
        self.process.change(segment + self.layout()["segment.next"], segment, 8)
        self.assertIn(f"leads back to {segment:#x}", self.damaged("heap"))

    def test_a_list_that_leads_nowhere_is_refused(self):
        segment = next(self.heap().small_segments()).address
        self.process.change(segment + self.layout()["segment.next"], 0x1000, 8)
        self.assertIn("cannot be read", self.damaged("heap"))

    def test_a_cache_with_too_many_blocks_is_refused(self):
        cache = next(self.heap().caches())
        self.process.change(cache + self.layout()["block_cache.count"], 1 << 30, 4)
        text = self.damaged("heap")
        self.assertIn('The heap "watched" cannot be shown: The thread cache at', text)
        self.assertIn('heap "process": ', text)

    # A block can be described although something else is damaged.

    def test_a_damaged_cache_leaves_the_blocks_of_others(self):
        cache = next(self.heap().caches())
        self.process.change(cache + self.layout()["block_cache.count"], 1 << 30, 4)
        for block in self.expected.blocks:
            text = self.run_command("block", hex(block.address))
            if block.heap == "process" or "of its page" not in text:
                self.assertIn(f"{block.state}, of the heap", text)
                self.assertNotIn("damaged", text)
            else:
                self.assertIn("in use or cached, of the heap", text)
                self.assertIn("the thread caches are damaged: The thread cache at", text)

    def test_a_damaged_heap_leaves_the_blocks_of_others(self):
        process, watched = self.small_block("process", 1000, 1024), self.small_block()
        for broken, healthy in (("process", watched), ("watched", process)):
            self.process.changes = {}
            heap, layout = self.heap(broken), self.layout()
            at = heap.core + layout["core.memory"] + layout["memory.segment_bytes"]
            self.process.change(at, 12345, 8)
            self.assertIn(f'in use, of the heap "{healthy.heap}"', self.run_command("block", hex(healthy.address)))
            broken_block = process if broken == "process" else watched
            self.assertIn("was not found in the records that can be read", self.refused("block", hex(broken_block.address)))
            self.assertIn("its segments have 0x3039 bytes", self.refused("block", hex(broken_block.address)))

    def test_damaged_large_blocks_leave_the_small_and_the_huge_ones(self):
        layout, heap = self.layout(), self.heap()
        self.process.change(heap.core + layout["core.large"] + layout["large.first"], 0x1000, 8)
        for block in self.expected.blocks:
            if block.heap == "watched" and (block.bytes < 30000 and block.state != "free" or block.bytes > 40_000_000):
                self.assertIn(f'{block.state}, of the heap "watched"', self.run_command("block", hex(block.address)))

    # Words.

    def test_what_is_reserved_now_and_what_was_in_use_are_two_figures(self):
        self.assertRegex(self.run_command("heap"), r'heap "watched": \S+ \S+ reserved now; at most \S+ \S+ in use at one time')

    def test_a_name_cannot_command_the_terminal(self):
        layout, heap = self.layout(), self.heap()
        words = Memory(self.process.read).words(heap.home + layout["home.name"], 2)
        for each, byte in enumerate(b"\x1b[2Jabc"):
            self.process.changes[max(words) + each] = byte
        text = self.run_command("heap")
        self.assertNotIn("\x1b", text)
        self.assertIn('heap "\\x1b[2Jabc": ', text)
        self.assertEqual(printable("a\nb\u202ec ä"), "a\\nb\\u202ec ä")

    def test_early_memory_of_the_dropin_is_told(self):
        layout = self.layout()
        begin = 0x7000_0000_0000 & -layout["limit.segment_bytes"]
        head = begin + layout["head.class_of_slice"]
        count = layout["limit.segment_bytes"] // layout["limit.slice_bytes"]
        self.process.fake = (head, bytes([layout["number.none"]]) * count)
        try:
            self.assertIn("may be early memory of the drop-in", self.run_command("block", hex(begin + 5000)))
            self.process.fake = (head, bytes([layout["number.none"]]) * (count - 1) + b"\0")
            self.assertIn("not in the memory of a Tenure heap", self.run_command("block", hex(begin + 5000)))
        finally:
            self.process.fake = None

    def test_constant_memory_is_no_pool(self):
        for value in (0, 1, 8, 4096, 1 << 20, 0x0101010101010101, (1 << 64) - 1):
            for kind, pool in zip(("pool", "shared", "handles"), self.expected.pools):
                self.process.changes = {}
                for at in range(pool.address, pool.address + 400, 8):
                    self.process.change(at, value, 8)
                self.refused("pool", kind, hex(pool.address))

    def test_changed_bytes_never_lead_to_another_error_or_an_endless_walk(self):
        chance = random.Random(7)
        layout, heap = self.layout(), self.heap()
        places = [(layout.address, 7000), (heap.home, 4000)]
        places += [(next(heap.caches()), 4000)]
        for segment in heap.small_segments():
            places += [(segment.address, 6000), (segment.address + layout["segment.pages"], 4096)]
        for address, _ in heap.large_segments():
            places.append((address + layout["large_segment.next"], 4096))
            places.append((address + layout["large_segment.runs"] + 24 * layout["large_head_units.25"], 2000))
        for name in ("huge.live", "huge.kept"):
            places += [(at, 128) for at in layout.list_of(heap.core + layout["core.huge"], name, "huge_block.next", "")]
        owners = layout.root("owners")
        places += [(owners, 64), (layout.word(owners, "owner_list.first"), 256), (layout.root("heaps"), 64)]
        places += [(each.address, 400) for each in self.expected.pools]
        in_use = [each.address for each in self.expected.blocks if each.state == IN_USE]
        refused = 0
        for _ in range(300):
            self.process.changes = {}
            begin, count = chance.choice(places)
            for _ in range(chance.choice((1, 1, 4, 40))):
                self.process.changes[begin + chance.randrange(count)] = chance.randrange(256)
            for words in (("heap",), ("block", hex(chance.choice(in_use))),
                          ("pool", chance.choice(("pool", "shared", "handles")),
                           hex(chance.choice(self.expected.pools).address))):
                refused += "damaged" in self.damaged(*words)
        self.assertGreater(refused, 20)


class ProfileTest(unittest.TestCase):
    def test_a_block_of_the_profile_has_its_stack(self):
        process = Process(PROGRAM, TENURE_PROFILE="1", TENURE_PROFILE_SAMPLE="1")
        try:
            block = next(each for each in process.expected.blocks if each.heap == "process")
            layout = Layout(Memory(process.read), process.expected.layouts["heap"])
            sample = sample_of(layout, block.address)
            self.assertEqual((sample.address, sample.asked_bytes, sample.thread), (block.address, 1000, process.child.pid))
            self.assertGreater(len(sample.frames), 1)
            text = tenure_commands.run(process, ["block", hex(block.address)])
            self.assertIn("with 1,000 bytes (heap profile):", text)
            self.assertIn(f"#0  {sample.frames[0]:#x}", text)
            inside = next(each for each in process.expected.blocks if each.heap == "watched")
            self.assertIsNone(sample_of(layout, inside.address))
            process.change(layout.root("profile") + layout["profile.live"] + layout["array.count"], 1 << 40, 8)
            text = tenure_commands.run(process, ["block", hex(block.address)])
            self.assertIn("in use, of the heap", text)
            self.assertIn("who allocated it cannot be read: The records of the heap profile are damaged", text)
        finally:
            process.end()

    def test_changed_bytes_of_the_profile_never_lead_to_another_error(self):
        process = Process(PROGRAM, TENURE_PROFILE="1", TENURE_PROFILE_SAMPLE="1")
        try:
            chance = random.Random(11)
            block = next(each for each in process.expected.blocks if each.heap == "process")
            layout = Layout(Memory(process.read), process.expected.layouts["heap"])
            places = []
            for name in ("profile.sites", "profile.frames", "profile.live"):
                array = layout.root("profile") + layout[name]
                places += [(array + layout["array.data"], 8), (array + layout["array.count"], 8),
                           (layout.word(array, "array.data"), 1000)]
            for _ in range(200):
                process.changes = {}
                begin, count = chance.choice(places)
                for _ in range(chance.choice((1, 4, 40))):
                    process.changes[begin + chance.randrange(count)] = chance.randrange(256)
                self.assertIn("in use, of the heap", tenure_commands.run(process, ["block", hex(block.address)]))
        finally:
            process.end()


class GuardedTest(unittest.TestCase):
    def test_guarded_blocks_come_on_top(self):
        process = Process(PROGRAM, TENURE_HEAP_GUARD_SAMPLE="1", TENURE_HEAP_GUARD_BYTES="1")
        try:
            text = tenure_commands.run(process, ["heap"])
            self.assertRegex(text, r"\n +guarded +\d")
            self.assertIn("Fenced and guarded blocks come on top of what is reserved.", text)
        finally:
            process.end()


class MemoryTest(unittest.TestCase):
    def test_a_short_read_is_an_error(self):
        with self.assertRaises(HeapError):
            Memory(lambda address, count: b"x").read(0x1000, 2)

    def test_an_impossible_read_is_not_tried(self):
        def fail(address, count):
            raise AssertionError("it was tried")
        for address, count in ((-1, 1), (1 << 60, 1), (0x1000, 1 << 40)):
            with self.assertRaisesRegex(HeapError, "damaged"):
                Memory(fail).read(address, count)

    def test_a_layout_of_zeros_is_refused(self):
        with self.assertRaisesRegex(HeapError, "no layout"):
            Layout(Memory(lambda address, count: bytes(count)), 0x1000, HEAP_MAGIC)

    def test_the_read_of_a_printer_has_limits(self):
        def fail(address, count):
            raise AssertionError("it was tried")
        with self.assertRaisesRegex(HeapError, "damaged"):
            tenure_printers.reader(fail)(0x1000, 1 << 40)

    def test_kinds_of_pools_come_from_the_types_name(self):
        for name, kind in (("tenure::v0_1_checks0::pool<int>", "pool"), ("tenure::shared_pool<a::pool<b>>", "shared pool"),
                           ("tenure::handle_pool<x>", "handle pool"), ("std::vector<tenure::pool<int>>", None)):
            self.assertEqual(tenure_pools.kind_of_type(name), kind)


if __name__ == "__main__":
    unittest.main()
