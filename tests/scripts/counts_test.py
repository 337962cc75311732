#!/usr/bin/env python3
# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""What scripts count as passed, failed and skipped, and which skips fail continuous integration."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import counts  # noqa: E402

CTEST = "75% tests passed, 1 tests failed out of 5\n"
JUNIT = """<testsuite>
<testcase name="pool.runs" status="run"><system-out></system-out></testcase>
<testcase name="pool.breaks" status="fail"><failure message=""/><system-out></system-out></testcase>
<testcase name="pool.checks" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
<system-out>[ RUN      ] pool.checks
/tests/pool_test.cpp:12: Skipped
the caller's mistakes are not checked

[  SKIPPED ] pool.checks (0 ms)
</system-out></testcase>
<testcase name="examples.gpu" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>
<system-out>left out: no Vulkan device
</system-out></testcase>
<testcase name="pool.is_silent" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/><system-out/></testcase>
<testcase name="pool.part" status="disabled"><system-out>Disabled</system-out></testcase>
</testsuite>"""


class Counts(unittest.TestCase):
    def test_ctest_counts_its_skipped_tests_apart_and_gives_their_reasons(self):
        found = counts.of_step(8, CTEST, JUNIT)
        self.assertEqual((found.passed, found.failed, found.skipped), (1, 1, 3))
        self.assertEqual(found.skips, [("pool.checks", "the caller's mistakes are not checked"),
                                       ("examples.gpu", "no Vulkan device"), ("pool.is_silent", "no reason given")])
        self.assertEqual(found.ran, {"pool.runs", "pool.breaks"})

    def test_a_test_whose_program_is_not_there_failed(self):
        found = counts.of_step(8, "0% tests passed, 1 tests failed out of 1", """<testsuite>
            <testcase name="pool.gone" status="notrun"><skipped message="Unable to find executable"/></testcase></testsuite>""")
        self.assertEqual((found.passed, found.failed, found.skipped, found.ran), (0, 1, 0, set()))

    def test_a_script_is_counted_by_its_closing_line(self):
        found = counts.of_step(0, "left out: java: javac is not installed\n3 passed, 0 failed, 1 skipped\n")
        self.assertEqual((found.passed, found.failed, found.skipped), (3, 0, 1))
        self.assertEqual(found.skips, [("java", "javac is not installed")])
        self.assertEqual(counts.of_step(0, "3 passed, 0 failed\n")[:3], (3, 0, 0))

    def test_only_the_last_closing_line_alone_on_its_line_counts(self):
        text = "1 passed, 1 failed, 0 skipped\nit says: 9 passed, 9 failed\n2 passed, 0 failed, 4 skipped\n"
        self.assertEqual(counts.of_step(0, text)[:3], (2, 0, 4))

    def test_what_counts_nothing_is_one_check(self):
        self.assertEqual(counts.of_step(0, "all well\n")[:3], (1, 0, 0))
        self.assertEqual(counts.of_step(1, "all well\n")[:3], (0, 1, 0))

    def test_a_check_that_is_left_out_has_not_passed(self):
        self.assertEqual(counts.of_step(0, "left out: this is clang-format 19\n")[:3], (0, 0, 1))

    def test_a_step_that_ends_badly_fails_whatever_it_counted(self):
        self.assertEqual(counts.of_step(1, "3 passed, 0 failed, 0 skipped\n")[:3], (3, 1, 0))

    def test_the_closing_line_is_read_as_it_is_written(self):
        self.assertEqual(counts.CLOSING.findall(counts.closing_line(1, 2, 3)), [("1", "2", "3")])


class Skips(unittest.TestCase):
    def left(self, *names, ran=()):
        return [skip.name for skip in counts.not_covered([counts.Skip(name, "") for name in names], set(ran))]

    def test_a_test_that_ran_in_another_tree_or_form_is_covered(self):
        self.assertEqual(self.left("pool.checks", "checked.pool.checks", ran=["checked.pool.checks"]), [])
        self.assertEqual(self.left("checked.pool.plain", ran=["pool.plain"]), [])
        self.assertEqual(self.left("dropin.checks", ran=["dropin.hardened.checks"]), [])
        self.assertEqual(self.left("pool.sees<tenure::v0_1_checks0::shared_block_pool>",
                                   ran=["pool.sees<tenure::v0_1_checks3::shared_block_pool>"]), [])

    def test_a_test_that_ran_nowhere_is_not(self):
        self.assertEqual(self.left("pool.checks", "", ran=["pool.other", "checked.pool.another"]), ["pool.checks", ""])

    def test_a_reason_that_the_machine_decides_is_accepted(self):
        for reason in ("no Vulkan device", "NU1102: Unable to find package runtime.linux-x64", "javac is not installed",
                       "no .NET SDK 10 or newer is installed"):
            self.assertTrue(counts.is_accepted(counts.Skip("a test", reason)), reason)

    def test_any_other_reason_is_refused(self):
        for reason in ("sqlite3 is not installed", "TBB is not installed", "the threads never met", "no reason given", "",
                       "Vulkan is not installed", "this is clang-format 19", "snapshot written, not compared"):
            self.assertFalse(counts.is_accepted(counts.Skip("a test", reason)), reason)

    def test_reasons_are_told_once_with_their_tests(self):
        skips = [counts.Skip("a", "why"), counts.Skip("b", "why"), counts.Skip("", "alone")]
        self.assertEqual(counts.by_reason(skips), ["why: a, b", "alone"])


class Run(unittest.TestCase):
    """scripts/test with steps of its own, in a tree of its own."""

    def run_steps(self, said, status=0, **environment):
        with tempfile.TemporaryDirectory() as folder:
            scripts = Path(folder, "scripts")
            scripts.mkdir()
            for name in ("test", "counts.py"):
                (scripts / name).write_text((ROOT / "scripts" / name).read_text())
            rooms = scripts / "check_rooms.py"
            rooms.write_text(f"#!/bin/sh\ncat <<'END'\n{said}\nEND\nexit {status}\n")
            rooms.chmod(0o755)
            variables = {name: value for name, value in os.environ.items() if name != "CI"} | environment
            done = subprocess.run([sys.executable, scripts / "test", "rooms"], capture_output=True, text=True, env=variables)
            summary = Path(folder, "build/test/summary.txt").read_text()
        self.assertEqual(done.stdout.splitlines()[-1] + "\n", summary)
        return done.returncode, summary.strip(), done.stdout

    def test_what_is_left_out_is_counted_and_told(self):
        status, summary, output = self.run_steps("left out: a: TBB is not installed\n4 passed, 0 failed, 1 skipped")
        self.assertEqual((status, summary), (0, "4 passed, 0 failed, 1 skipped"))
        self.assertIn("TBB is not installed: a", output)

    def test_in_ci_what_the_machine_could_run_fails(self):
        status, summary, output = self.run_steps("left out: a: TBB is not installed\n4 passed, 0 failed, 1 skipped", CI="true")
        self.assertEqual((status, summary), (1, "4 passed, 1 failed, 0 skipped"))
        self.assertIn("FAILED   1 were skipped", output)

    def test_in_ci_what_the_machine_lacks_is_skipped(self):
        status, summary, _ = self.run_steps("left out: a: no Vulkan device\n4 passed, 0 failed, 1 skipped", CI="true")
        self.assertEqual((status, summary), (0, "4 passed, 0 failed, 1 skipped"))

    def test_a_skip_without_a_word_fails_in_ci(self):
        self.assertEqual(self.run_steps("4 passed, 0 failed, 2 skipped", CI="true")[:2], (1, "4 passed, 2 failed, 0 skipped"))

    def test_a_failure_fails_everywhere(self):
        for environment in ({}, {"CI": "true"}):
            self.assertEqual(self.run_steps("1 passed, 1 failed, 0 skipped", status=1, **environment)[:2],
                             (1, "1 passed, 1 failed, 0 skipped"))


if __name__ == "__main__":
    unittest.main()
