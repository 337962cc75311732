#!/usr/bin/env python3
# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Runs gdb on the test programs, live at a breakpoint and on core files, and compares what the commands print with what
the programs say of themselves. Exits with 77 where gdb, or its Python, is missing.

usage: gdb_test.py DEBUGGED_PROGRAM PRELOADED_PROGRAM DROPIN DEBUGGED_SHARED
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
from expected import Expected  # noqa: E402: beside this file

HERE = Path(__file__).resolve().parent
FRONT = HERE.parent.parent / "debuggers/tenure_gdb.py"
SKIPPED = 77


def gdb(arguments, environment, folder):
    variables = {**os.environ, **environment, "DEBUG_FRONT": str(FRONT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-x", str(HERE / "inside_gdb.py"),
                           *arguments], env=variables, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120, check=False)
    return done.stdout + done.stderr


class Debugged:
    """What commands print on a live program, and then on its core file."""

    def __init__(self, program, commands, preload="", stripped=False, **variables):
        with tempfile.TemporaryDirectory() as folder:
            paths = {name: os.path.join(folder, name) for name in ("commands", "expected", "live", "dead", "core")}
            Path(paths["commands"]).write_text(json.dumps(commands), encoding="utf-8")
            environment = {**variables, "DEBUG_COMMANDS": paths["commands"], "DEBUG_EXPECTED": paths["expected"]}
            preloaded = ["-iex", f"set environment LD_PRELOAD {preload}"] if preload else []
            # Without a shell: its own start would be preloaded as well.
            said = gdb(["-iex", "set startup-with-shell off", *preloaded, "--args", program, paths["expected"]],
                       {**environment, "DEBUG_OUT": paths["live"], "DEBUG_CORE": paths["core"]}, folder)
            if not os.path.exists(paths["live"]) or not os.path.exists(paths["core"]):
                raise RuntimeError("gdb wrote no result: " + said)
            self.expected = Expected(paths["expected"])
            if stripped:
                subprocess.run(["strip", "-o", os.path.join(folder, "stripped"), program], check=True)
                program = os.path.join(folder, "stripped")
            said = gdb([program, paths["core"]], {**environment, "DEBUG_OUT": paths["dead"], "DEBUG_CORE": ""}, folder)
            if not os.path.exists(paths["dead"]):
                raise RuntimeError("gdb wrote no result for the core file: " + said)
            self.live = json.loads(Path(paths["live"]).read_text(encoding="utf-8"))
            self.dead = json.loads(Path(paths["dead"]).read_text(encoding="utf-8"))


def table_of(text, heap):
    """From block size to (in use, cached) in the part of a heap."""
    part = text.split(f'heap "{heap}"', 1)[1].split('heap "', 1)[0]
    rows = {}
    for line in part.splitlines():
        words = line.replace(",", "").split()
        if len(words) >= 6 and words[0].isdigit() and words[1].isdigit():
            rows[int(words[0])] = (int(words[2]), int(words[3]))
    return rows


# Expressions that mean an address, and how far behind debugged_program's variable `monster` it is.
ADDRESSES = {"monster": 0, "monster->name": 16, "&monster->health": 8, "number": 0, "&boss": 0, "boss.name": 16}


class LinkedTest(unittest.TestCase):
    """A program that links the library and has debug information."""

    COMMANDS = ["tenure heap", *(f"tenure block {{{each}}}" for each in range(13)), "up", "tenure pool monsters",
                "tenure pool shared", "tenure pool handles", "tenure pool numbers", "tenure pool nowhere", "tenure block",
                "tenure", "tenure block watched.home_", *(f"tenure block {each}" for each in ADDRESSES),
                "tenure block boss", "tenure block boss.health", "print monsters", "print shared", "print handles", "print first",
                "print numbers", "print watched", "print scratch", "print physics", "print frame"]

    @classmethod
    def setUpClass(cls):
        cls.debugged = Debugged(sys.argv_of_test[0], cls.COMMANDS, TENURE_PROFILE="1", TENURE_PROFILE_SAMPLE="1")

    def both(self, command):
        self.assertEqual(self.debugged.live[command], self.debugged.dead[command], command)
        return self.debugged.live[command]

    def test_before_the_start_there_is_a_reason(self):
        self.assertIn("error: There is no process: start the program", self.debugged.live["early"])

    def test_the_table_is_that_of_the_library(self):
        rows = table_of(self.both("tenure heap"), "watched")
        self.assertEqual({size: row for size, row in rows.items() if row[0]}, self.debugged.expected.sizes)

    def test_blocks_are_described(self):
        blocks = self.debugged.expected.blocks
        self.assertEqual(len(blocks), 13)
        for index, block in enumerate(blocks):
            text = self.both(f"tenure block {{{index}}}")
            self.assertIn(f'{block.state}, of the heap "{block.heap}"', text)
            if block.bytes:
                self.assertIn(f"begin of a block of {block.bytes:,} bytes", text)

    def test_a_block_of_the_profile_has_its_stack(self):
        text = self.both("tenure block {10}")
        self.assertIn("with 1,000 bytes (heap profile):", text)
        self.assertRegex(text, r"#\d+ +0x\w+ main in section \S+|#\d+ +0x\w+ main .*\(debugged_program.cpp:\d+\)")

    def test_owner_tags_have_names(self):
        for index in (11, 12):  # a small block and a large one
            self.assertRegex(self.both(f"tenure block {{{index}}}"), r"owner tag: physics \(tag \d+\)")
        self.assertNotIn("owner tag", self.both("tenure block {10}"))

    def test_pools_are_described_by_their_names(self):
        for name, pool in zip(("monsters", "shared", "handles"), self.debugged.expected.pools):
            self.assertIn(f"{pool.in_use} blocks of {pool.block_bytes} bytes in use", self.both(f"tenure pool {name}"))

    def test_what_is_no_pool_is_refused(self):
        self.assertIn("'numbers' is no pool: it has the type tenure::", self.both("tenure pool numbers"))
        self.assertIn("cannot be evaluated: No symbol \"nowhere\"", self.both("tenure pool nowhere"))
        self.assertIn("usage: tenure block ADDRESS", self.both("tenure block"))
        self.assertIn("usage:", self.both("tenure"))

    def test_an_expression_is_an_address(self):
        self.assertIn("not in the memory of a Tenure heap", self.both("tenure block watched.home_"))

    def test_an_expression_is_a_value_or_the_place_of_an_array(self):
        for expression, offset in ADDRESSES.items():
            text = self.both(f"tenure block {expression}")
            self.assertIn(f"{self.debugged.expected.variable.address + offset:#x}: ", text)
            self.assertIn('in use, of the heap "watched"', text)

    def test_what_is_no_address_is_refused(self):
        self.assertRegex(self.both("tenure block boss"), "error: 'boss' cannot be evaluated: it has the type .*creature, "
                         "which is no address. For that of a variable, write & in front")
        self.assertIn("it has the type double, which is no address", self.both("tenure block boss.health"))

    def test_printers_show_the_public_types(self):
        pools = self.debugged.expected.pools
        self.assertIn(f"= {pools[0].in_use} objects = {{{{id =", self.both("print monsters"))
        self.assertIn(f"= {pools[1].in_use} objects, ", self.both("print shared"))
        self.assertIn("= 9 objects in 10 slots = {{id = 0, health = 3.5", self.both("print handles"))
        self.assertRegex(self.both("print first"), r"= slot 0, generation \d+")
        self.assertRegex(self.both("print numbers"), r"= 5 elements, room for \d+ = \{0, 1, 4, 9, 16\}")
        self.assertIn('= "watched", ', self.both("print watched"))
        self.assertRegex(self.both("print scratch"), r"= next block at 0x\w+, \d+ bytes left in its chunk")
        self.assertRegex(self.both("print physics"), r"= tag \d+")
        self.assertRegex(self.both("print frame"), r"= frees Temp from 0x\w+ on")

    def test_nothing_ends_in_a_traceback(self):
        for results in (self.debugged.live, self.debugged.dead):
            for command, text in results.items():
                self.assertNotIn("Traceback", text, command)
                self.assertNotIn("Python Exception", text, command)


class PreloadedTest(unittest.TestCase):
    """A program that knows nothing of Tenure, with the drop-in preloaded, and neither has debug information."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        library = os.path.join(cls.folder.name, os.path.basename(sys.argv_of_test[2]))
        shutil.copy(sys.argv_of_test[2], library)
        subprocess.run(["strip", library], check=True)
        cls.debugged = Debugged(sys.argv_of_test[1], ["tenure heap", *(f"tenure block {{{each}}}" for each in range(6))],
                              library)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_blocks_are_described(self):
        for index, block in enumerate(self.debugged.expected.blocks):
            for results in (self.debugged.live, self.debugged.dead):
                text = results[f"tenure block {{{index}}}"]
                self.assertIn(f'{block.state}, of the heap "process"', text)
                self.assertIn(f"{block.address:#x}: begin of a block of", text)

    def test_the_summary_is_the_same_in_the_core_file(self):
        text = self.debugged.live["tenure heap"]
        self.assertEqual(text, self.debugged.dead["tenure heap"])
        self.assertIn('heap "process":', text)
        self.assertGreaterEqual(table_of(text, "process")[32][0], 1)


class TwoCopiesTest(unittest.TestCase):
    """A program that uses libtenure.so, with the drop-in preloaded: both export the layout by the same name."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        stripped = os.path.join(cls.folder.name, os.path.basename(sys.argv_of_test[2]))
        subprocess.run(["strip", "--strip-all", "-o", stripped, sys.argv_of_test[2]], check=True)
        cls.results = [Debugged(sys.argv_of_test[3], ["tenure heap", *(f"tenure block {{{each}}}" for each in range(13)),
                                                    "tenure pool pool {13}"], dropin)
                       for dropin in (sys.argv_of_test[2], stripped)]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_the_heaps_of_both_are_shown(self):
        for each in self.results:
            for text in (each.live["tenure heap"], each.dead["tenure heap"]):
                self.assertEqual(text.count('heap "process": '), 2, text)
                self.assertEqual(text.count('heap "watched": '), 1, text)

    def test_blocks_and_pools_are_described(self):
        for each in self.results:
            for results in (each.live, each.dead):
                for index, block in enumerate(each.expected.blocks):
                    self.assertIn(f'{block.state}, of the heap "{block.heap}"', results[f"tenure block {{{index}}}"])
                self.assertIn(f"{each.expected.pools[0].in_use} blocks of", results["tenure pool pool {13}"])


class DamagedTest(unittest.TestCase):
    """Printers of objects that are damaged or not constructed yet. gdb must survive them."""

    def test_gdb_goes_on(self):
        blocks = "monsters.blocks_"
        commands = ["up", "print *unmade", "tenure pool *unmade",
                    f"set var {blocks}.first_->groups_used = -1", "print monsters",
                    f"set var {blocks}.layout_.capacity = 1ul << 60", "print  monsters",
                    f"set var {blocks}.layout_.segment_bytes = -1", "print monsters.blocks_", "print   monsters",
                    f"set var {blocks}.layout_.stride_bytes = 1", "print    monsters", "tenure pool monsters",
                    "set var handles.slots_.groups_ = 0x1000", "print handles",
                    "set var shared.blocks_.core_ = 0x1000", "print shared",
                    "set var numbers.size_ = 5", "print numbers"]
        results = Debugged(sys.argv_of_test[0], commands).live
        self.assertIn("= unreadable (", results["print *unmade"])
        self.assertIn("error: There is no pool at", results["tenure pool *unmade"])
        self.assertRegex(results["print monsters"], r"= \d+ objects = \{\{id = \d")  # the chunk's limit still holds
        self.assertIn("= unreadable (", results["print  monsters"])
        self.assertRegex(results["print   monsters"], r"unreadable \((HeapError|ValueError)")
        self.assertIn("unreadable (", results["print    monsters"])
        self.assertIn("error: There is no pool at", results["tenure pool monsters"])
        self.assertIn("= 9 objects in 10 slots = {unreadable (HeapError", results["print handles"])
        self.assertIn("= unreadable (", results["print shared"])
        self.assertIn("{0, 1, 4, 9, 16}", results["print numbers"])
        for command, text in results.items():
            self.assertNotIn("Python Exception", text, command)


class StrippedTest(unittest.TestCase):
    """The core file of a program whose own file has no symbols: the layout is searched for."""

    def test_the_layout_is_found_by_its_magic(self):
        commands = ["tenure heap", "tenure block {1}", "tenure pool pool {13}"]
        debugged = Debugged(sys.argv_of_test[0], commands, stripped=True)
        for command in commands:
            self.assertEqual(debugged.dead[command], debugged.live[command])
            self.assertNotIn("error", debugged.live[command])

    def test_its_copy_is_found_beside_the_dropin_that_has_a_symbol(self):
        commands = ["tenure heap", "tenure block {1}", "tenure pool pool {13}"]
        debugged = Debugged(sys.argv_of_test[0], commands, sys.argv_of_test[2], stripped=True)
        for results in (debugged.live, debugged.dead):
            self.assertEqual(results["tenure heap"].count('heap "process": '), 2)
            self.assertIn('in use, of the heap "watched"', results["tenure block {1}"])
            self.assertNotIn("error", results["tenure pool pool {13}"])


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    if shutil.which("gdb") is None or subprocess.run(["gdb", "-nx", "-batch", "-ex", "python print(1)"], check=False,
                                                    capture_output=True).stdout.strip() != b"1":
        print("left out: gdb with Python is not installed")
        sys.exit(SKIPPED)
    tried = subprocess.run(["gdb", "-nx", "-batch", "-ex", "run", "/bin/true"], check=False, capture_output=True, text=True)
    if "exited normally" not in tried.stdout:
        print("left out: gdb cannot run programs here: " + tried.stderr.strip().replace("\n", "; ")[:200])
        sys.exit(SKIPPED)
    sys.argv_of_test = [os.path.abspath(each) for each in sys.argv[1:5]]
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
