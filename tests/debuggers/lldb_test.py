#!/usr/bin/env python3
# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Runs lldb on the test program, live at a breakpoint and, if gdb is there to write one, on a core file. Exits with 77
where lldb, or its Python, is missing.

usage: lldb_test.py DEBUGGED_PROGRAM
"""

import glob
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
from gdb_test import ADDRESSES, table_of  # noqa: E402

HERE = Path(__file__).resolve().parent
FRONT = HERE.parent.parent / "debuggers/tenure_lldb.py"
SKIPPED = 77


def find_lldb():
    """lldb and the environment in which it finds its Python files; None if it has none."""
    for name in ("lldb", *(f"lldb-{version}" for version in range(22, 12, -1))):
        program = shutil.which(name)
        if program is None:
            continue
        version = name.rpartition("-")[2] if "-" in name else "*"
        # Debian 12's package looks into a folder that does not exist.
        for path in ("", *glob.glob(f"/usr/lib/llvm-{version}/lib/python3*/*-packages")):
            # Its Python takes the modules of the first python3 in the path for its own.
            environment = {**os.environ, "PATH": "/usr/bin:/bin", **({"PYTHONPATH": path} if path else {})}
            done = subprocess.run([program, "-x", "-b", "-o", "script print(6*7, lldb.debugger.IsValid())"],
                                  env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                                  check=False)
            if "42 True" in done.stdout:
                return program, environment
    return None


def run_inside(folder, commands, program, core=""):
    out = os.path.join(folder, "core-results" if core else "results")
    Path(folder, "commands").write_text(json.dumps(commands), encoding="utf-8")
    lldb, environment = find_lldb()
    environment = {**environment, "DEBUG_FRONT": str(FRONT), "DEBUG_PROGRAM": program, "DEBUG_CORE": core,
                   "DEBUG_COMMANDS": os.path.join(folder, "commands"), "DEBUG_OUT": out,
                   "DEBUG_EXPECTED": os.path.join(folder, "expected"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([lldb, "-x", "-b", "-o", f"command script import {HERE / 'inside_lldb.py'}"], env=environment,
                          cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180, check=False)
    if not os.path.exists(out):
        raise RuntimeError("lldb wrote no result: " + done.stdout + done.stderr)
    return json.loads(Path(out).read_text(encoding="utf-8"))


COMMANDS = ["tenure heap", *(f"tenure block {{{each}}}" for each in range(13)),
            *(f"tenure pool {kind} {{{each}}}" for kind, each in (("pool", 13), ("shared", 14), ("handles", 15)))]
WITH_TYPES = ["up", "tenure pool monsters", "tenure pool shared", "tenure pool handles", "tenure pool numbers",
              "tenure pool nowhere", "tenure", "tenure block freed", "frame variable monsters", "frame variable handles",
              "frame variable numbers", "frame variable watched", "frame variable shared", "frame variable first", *(f"tenure block {each}" for each in ADDRESSES), "tenure block boss",
              "tenure block boss.health", "frame variable *unmade"]


class LldbTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            cls.results = run_inside(folder, COMMANDS + WITH_TYPES, PROGRAM)
            cls.expected = Expected(os.path.join(folder, "expected"))

    def check_blocks(self, results, expected):
        for index, block in enumerate(expected.blocks):
            text = results[f"tenure block {{{index}}}"]
            self.assertIn(f'{block.state}, of the heap "{block.heap}"', text)
        rows = table_of(results["tenure heap"], "watched")
        self.assertEqual({size: row for size, row in rows.items() if row[0]}, expected.sizes)
        for command, pool in zip(COMMANDS[-3:], expected.pools):
            self.assertIn(f"{pool.in_use} blocks of {pool.block_bytes} bytes in use", results[command])

    def test_before_the_start_there_is_a_reason(self):
        self.assertIn("There is no process", self.results["early"])

    def test_blocks_pools_and_the_table_are_those_of_the_library(self):
        self.check_blocks(self.results, self.expected)

    def test_variables_name_pools_and_blocks(self):
        for name, pool in zip(("monsters", "shared", "handles"), self.expected.pools):
            self.assertIn(f"{pool.in_use} blocks of {pool.block_bytes} bytes", self.results[f"tenure pool {name}"])
        self.assertIn("begin of a block of 96 bytes, cached", self.results["tenure block freed"])

    def test_an_expression_is_a_value_or_the_place_of_an_array(self):
        for expression, offset in ADDRESSES.items():
            text = self.results[f"tenure block {expression}"]
            self.assertIn(f"{self.expected.variable.address + offset:#x}: ", text)
            self.assertIn('in use, of the heap "watched"', text)

    def test_what_is_no_address_is_refused(self):
        self.assertRegex(self.results["tenure block boss"], "'boss' cannot be evaluated: it has the type .*creature, "
                         "which is no address. For that of a variable, write & in front")
        self.assertIn("it has the type double, which is no address", self.results["tenure block boss.health"])

    def test_an_object_that_is_not_constructed_is_unreadable(self):
        self.assertIn("unreadable (", self.results["frame variable *unmade"])

    def test_what_is_wrong_is_refused(self):
        self.assertIn("'numbers' is no pool", self.results["tenure pool numbers"])
        self.assertIn("'nowhere' cannot be evaluated", self.results["tenure pool nowhere"])
        self.assertIn("usage:", self.results["tenure"])

    def test_summaries_show_the_public_types(self):
        self.assertIn(f"monsters = {self.expected.pools[0].in_use} objects {{", self.results["frame variable monsters"])
        self.assertIn("[0] = (id = 0, health = 3.5", self.results["frame variable handles"])
        self.assertRegex(self.results["frame variable numbers"], r"= 5 elements, room for \d+ \{\s+\[0\] = 0\s+\[1\] = 1")
        self.assertIn('watched = "watched", ', self.results["frame variable watched"])
        self.assertIn("shared = 77 objects, ", self.results["frame variable shared"])
        self.assertRegex(self.results["frame variable first"], r"first = slot 0, generation \d+")

    def test_nothing_ends_in_a_traceback(self):
        for command, text in self.results.items():
            self.assertNotIn("Traceback", text, command)

    @unittest.skipIf(shutil.which("gdb") is None, "gdb, which writes the core file, is not installed")
    def test_a_core_file_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            core = os.path.join(folder, "core")
            subprocess.run(["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "break stop_here", "-ex",
                            "run", "-ex", f"generate-core-file {core}", "--args", PROGRAM,
                            os.path.join(folder, "expected")], stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
                           check=False)
            results = run_inside(folder, COMMANDS, PROGRAM, core)
            self.check_blocks(results, Expected(os.path.join(folder, "expected")))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if find_lldb() is None:
        print("left out: lldb with Python is not installed")
        sys.exit(SKIPPED)
    lldb, environment = find_lldb()
    tried = subprocess.run([lldb, "-x", "-b", "-o", "run", "/bin/true"], env=environment, stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, timeout=60, check=False)
    if "exited with status = 0" not in tried.stdout:
        print("left out: lldb cannot run programs here: " + tried.stderr.strip().replace("\n", "; ")[:200])
        sys.exit(SKIPPED)
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
