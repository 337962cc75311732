#!/usr/bin/env python3
# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Writes blocks of documents in a small tree, with a program that stands in for the command."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts/figures"

# Says what it was asked, and the heap's table as the command prints it. Its summary is the file that it was given.
COMMAND = """#!/bin/sh
case "$*" in
*--summary*) cp "$2" "$4" ;;
*--chart*) echo "<svg>$3 $4 of $(basename $2)</svg>" ;;
*--markdown*) echo "| asked |"; echo "| --- |"; echo "| $3 $4 $5 $6 |" ;;
*nowhere*) echo "no such experiment" >&2; exit 2 ;;
*) printf 'heap\\n\\nheap · times · warm\\n  contestant  1.0\\n> tenure  2.0\\n\\nheap · memory\\n' ;;
esac
"""

MACHINE = {"cpu": "a processor", "cores": 2, "system": "a system", "c_library": "glibc 2.36", "commit": "0123abc"}
KEPT = {"started_at": "2026-11-23T10:00:00Z", "command": "tenure bench", "complete": True, "machine": MACHINE,
        "experiments": [{"contestants": [{"name": "a", "reason": "/opt/lib/libmine.so: not found",
                                          "left_out": [{"part": "all", "reason": "/opt/lib/libmine.so is slow"}]},
                                         {"name": "b", "metrics": [{"samples": [1.5, None]}]}]}]}
SUMMARY = {"started_at": "2026-11-23T10:00:00Z", "command": "tenure bench", "machine": MACHINE,
           "experiments": [{"name": "heap", "rounds": 7, "contestants": [{"name": "ours"}, {"name": "theirs"}],
                            "variants": [{"variant": "warm", "figures": [
                                {"figure": ["alloc", "ns/op"], "values": [[1.5, 1, 2, 1], None]},
                                {"figure": ["free", "ns/op"], "values": [[1234, 1, 2, 1], [3, 1, 2]]}]}]}]}
PROGRAMS = {"started_at": "2026-11-23T10:00:00Z", "command": "real_programs", "rounds": 2, "machine": MACHINE,
            "programs": [{"program": "perl", "rows": [
                {"malloc": "ours.so", "cpu_s": [1.0, 3.0], "peak_mib": 10},
                {"malloc": "the C library", "cpu_s": [2.0, 4.0], "peak_mib": 12}]},
                {"program": "node", "rows": [], "failed": "it said nothing"}]}
JEMBENCH = {"started_at": "2026-11-23T10:00:00Z", "command": "jembench array", "runtime": ".NET 10", "machine": MACHINE,
            "rows": [{"operation": "fill", "memory": "managed", "count": 1000, "error": "", "median_ns": 1234567.0, "ratio": 1.0},
                     {"operation": "fill", "memory": "native", "count": 1000, "error": "no memory"}]}


class Figures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "docs/results").mkdir(parents=True)
        for name, value in {"now.json": KEPT, "programs.json": PROGRAMS, "jembench.json": JEMBENCH}.items():
            (self.root / "docs/results" / name).write_text(json.dumps(value))
        self.tenure = self.root / "tenure"
        self.tenure.write_text(COMMAND)
        self.tenure.chmod(0o755)

    def document(self, text):
        (self.root / "README.md").write_text(text)

    def selected(self, rows, figures, experiment="heap"):
        (self.root / "docs/results/summary.json").write_text(json.dumps(SUMMARY))
        self.document(f'<!-- figures: select summary.json {experiment} "{rows}" "{figures}" -->\n<!-- /figures -->\n')
        code, said, text = self.figures()
        return [line for line in text.splitlines() if line.startswith("|")] if code == 0 else said

    def test_select_shows_the_chosen_figures(self):
        self.assertEqual(self.selected("theirs;ours", "free, warm;alloc, warm"), [
            "| | free, warm, ns/op | alloc, warm, ns/op |", "| --- | --- | --- |", "| theirs | 3.00 | – |", "| ours | 1,234 | 1.50 |"])
        self.assertEqual(self.selected("ours", "alloc, warm;nothing, cold"), [
            "| | ours |", "| --- | --- |", "| alloc, warm, ns/op | 1.50 |", "| nothing, cold | – |"])
        self.assertIn("no experiment", self.selected("ours", "alloc, warm", "nowhere"))

    def figures(self, *more):
        done = subprocess.run([sys.executable, SCRIPT, "--root", self.root, "--tenure", self.tenure, *more],
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr, (self.root / "README.md").read_text()

    def block(self, what, body=""):
        return f"<!-- figures: {what} -->\n{body}<!-- /figures -->\n"

    def test_a_block_is_written_and_then_checked(self):
        self.document("before\n" + self.block("table now.json heap") + "after\n")
        self.assertEqual(self.figures("--check")[0], 1)
        status, _, text = self.figures()
        self.assertEqual(status, 0)
        self.assertIn("--markdown tables --experiment heap", text)
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"))
        self.assertEqual(self.figures("--check")[0], 0)

    def test_a_changed_figure_fails_the_check(self):
        self.document(self.block("table now.json heap"))
        self.figures()
        self.document((self.root / "README.md").read_text().replace("heap |", "heap, better |"))
        status, said, _ = self.figures("--check")
        self.assertEqual(status, 1)
        self.assertIn("differs from the kept results", said)

    def test_a_chart_is_written_beside_its_document_and_then_checked(self):
        picture = self.root / "docs/heap.svg"
        self.document("before\n<!-- chart: now.json heap -->\n![Heaps](docs/heap.svg)\nafter\n")
        status, said, _ = self.figures("--check")
        self.assertEqual(status, 1)
        self.assertIn("README.md: docs/heap.svg differs from the kept results or does not exist", said)
        status, said, text = self.figures()
        self.assertEqual(status, 0)
        self.assertIn("written: docs/heap.svg", said)
        self.assertEqual(picture.read_text(), "<svg>--chart heap of now.json</svg>\n")
        self.assertEqual(text, "before\n<!-- chart: now.json heap -->\n![Heaps](docs/heap.svg)\nafter\n")
        status, said, _ = self.figures("--check")
        self.assertEqual(status, 0)
        self.assertIn("figures: 1 blocks and charts match", said)
        picture.write_text(picture.read_text().replace("heap", "help"))
        self.assertEqual(self.figures("--check")[0], 1)

    def test_a_picture_is_named_from_its_own_document(self):
        self.document("")
        (self.root / "docs/guide").mkdir()
        (self.root / "docs/guide/bench.md").write_text("<!-- chart: now.json pools -->\n![Pools](../results/pools.svg)\n")
        self.assertEqual(self.figures()[0], 0)
        self.assertIn("pools", (self.root / "docs/results/pools.svg").read_text())

    def test_a_chart_without_a_file_a_picture_or_an_experiment_is_refused(self):
        image = "![Heaps](heap.svg)\n"
        for document, expected in {"<!-- chart: heap -->\n" + image: "needs a file and an experiment",
                                   "<!-- chart: then.json heap -->\n" + image: "then.json does not exist",
                                   "<!-- chart: now.json heap -->\n\n" + image: "the next line must be the picture",
                                   "<!-- chart: now.json heap -->\n![Heaps](heap.png)\n": "is an .svg file inside",
                                   "<!-- chart: now.json heap -->\n![Heaps](../heap.svg)\n": "is an .svg file inside",
                                   }.items():
            self.document(document)
            status, said, _ = self.figures()
            self.assertEqual(status, 1, document)
            self.assertIn(expected, said)
            self.assertEqual(list(self.root.rglob("*.svg")), [])

    def test_output_is_cut_at_its_heading(self):
        self.document(self.block('output now.json heap "times · warm"'))
        text = self.figures()[2]
        self.assertIn("heap · times · warm\n  contestant  1.0\n> tenure  2.0\n```", text)
        self.assertNotIn("memory", text)

    def test_a_missing_table_file_or_kind_is_named(self):
        for what, expected in {'output now.json heap "cold"': 'prints no table "heap · cold"',
                               "table then.json heap": "then.json does not exist",
                               'output now.json nowhere "x"': "no such experiment",
                               "picture now.json": '"picture" is not a kind of block',
                               "table now.json": "needs a file and an experiment"}.items():
            self.document(self.block(what))
            status, said, _ = self.figures("--check")
            self.assertEqual(status, 1, what)
            self.assertIn(expected, said)

    def test_a_block_without_an_end_is_refused(self):
        self.document("<!-- figures: table now.json heap -->\n")
        self.assertIn("no <!-- /figures -->", self.figures("--check")[1])

    def test_figures_by_hand_are_refused_outside_decisions(self):
        self.document("| a | 1.25 | **2.5 ×1.1** |\n")
        status, said, _ = self.figures("--check")
        self.assertEqual(status, 1)
        self.assertIn("README.md:1: figures by hand", said)
        (self.root / "docs/decisions").mkdir()
        (self.root / "docs/decisions/0001.md").write_text("| a | 1.25 | 2.5 |\n")
        self.document("| a | 4 KiB pages | two |\n")
        self.assertEqual(self.figures("--check")[0], 0)

    def test_programs_are_compared_round_by_round(self):
        self.document(self.block("programs programs.json"))
        self.assertIn("| perl | 2.00 s ×0.62, 10 MiB | 3.00 s, 12 MiB |", self.figures()[2])

    def test_programs_that_failed_stand_in_the_table(self):
        self.document(self.block("programs programs.json"))
        self.assertIn("| node | failed: it said nothing | |", self.figures()[2])

    def test_a_block_with_nothing_to_show_is_refused(self):
        self.tenure.write_text("#!/bin/sh\n")
        self.document(self.block("table now.json heap"))
        self.assertIn("nothing to show", self.figures("--check")[1])

    def test_a_run_with_uncommitted_changes_is_not_kept(self):
        self.document("")
        source = self.root / "run.json"
        for machine, said in (({"commit": "0123abc-dirty"}, "uncommitted changes"), ({"build_type": "Debug"}, "of type Debug")):
            source.write_text(json.dumps({**KEPT, "machine": {**MACHINE, **machine}}))
            status, text, _ = self.figures("keep", source, "kept")
            self.assertEqual(status, 1)
            self.assertIn(said, text)

    def test_failed_rows_of_jembench_stand_in_its_table(self):
        self.document(self.block("jembench jembench.json"))
        text = self.figures()[2]
        self.assertIn("| fill | managed | 1,000 | 1.23 ms | ×1 |", text)
        self.assertIn("| fill | native | 1,000 | failed: no memory |  |", text)

    def test_kept_results_are_listed_with_their_own_commit(self):
        self.document(self.block("kept"))
        self.assertIn("| 2026-11-23 | [now.json](now.json) | a processor, 2 cores, a system | 0123abc | `tenure bench` |",
                      self.figures()[2])

    def test_a_run_is_kept_as_its_summary_without_paths(self):
        self.document("")
        source = self.root / "run.json"
        source.write_text(json.dumps({**KEPT, "command": "tenure bench --out /home/me/now"}))
        status, said, _ = self.figures("keep", source, "kept")
        self.assertEqual(status, 0, said)
        self.assertIn("docs/results/kept.json: ", said)
        kept = json.loads((self.root / "docs/results/kept.json").read_text())
        self.assertEqual(kept["command"], "tenure bench --out now")
        absent, measured = kept["experiments"][0]["contestants"]
        self.assertEqual(absent["reason"], "libmine.so: not found")
        self.assertEqual(absent["left_out"][0]["reason"], "libmine.so is slow")
        self.assertEqual(measured, KEPT["experiments"][0]["contestants"][1], "the command summarizes")
        self.assertEqual(kept["machine"], MACHINE)

    def test_a_run_that_the_command_cannot_summarize_is_not_kept(self):
        self.document("")
        self.tenure.write_text('#!/bin/sh\necho "tenure: $2: no" >&2; exit 2\n')
        source = self.root / "run.json"
        source.write_text(json.dumps(KEPT))
        status, said, _ = self.figures("keep", source, "kept")
        self.assertEqual(status, 1)
        self.assertIn(f"{source}: tenure: {source}: no", said)
        self.assertFalse((self.root / "docs/results/kept.json").exists())

    def test_other_results_are_kept_with_a_line_for_each_row(self):
        self.document("")
        source = self.root / "run.json"
        source.write_text(json.dumps(JEMBENCH))
        self.assertEqual(self.figures("keep", source, "kept")[0], 0)
        text = (self.root / "docs/results/kept.json").read_text()
        self.assertEqual(json.loads(text), JEMBENCH)
        self.assertEqual(text.count('\n{"operation"'), 2)

    def test_more_kept_results_than_the_limit_fail_the_check(self):
        self.document("")
        self.assertEqual(self.figures("--check")[0], 0)
        (self.root / "docs/results/large.json").write_text(json.dumps({"text": "x" * 220_000}))
        status, said, _ = self.figures("--check")
        self.assertEqual(status, 1)
        self.assertIn("docs/results holds 221 KB of JSON, more than 220 KB", said)

    def test_an_interrupted_run_is_not_kept(self):
        self.document("")
        source = self.root / "run.json"
        source.write_text(json.dumps({**KEPT, "complete": False}))
        status, said, _ = self.figures("keep", source, "kept")
        self.assertEqual(status, 1)
        self.assertIn("was interrupted", said)

    def test_a_run_without_a_machine_needs_one(self):
        self.document("")
        source = self.root / "run.json"
        value = dict(JEMBENCH)
        del value["machine"]
        source.write_text(json.dumps(value))
        self.assertIn("--beside", self.figures("keep", source, "kept")[1])
        self.assertEqual(self.figures("--beside", self.root / "docs/results/now.json", "keep", source, "kept")[0], 0)


if __name__ == "__main__":
    unittest.main()
