#!/usr/bin/env python3
# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Breaks each kind of pointer once, in a small tree of its own, and reads the message."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts/check_links.py"

EXAMPLE = """#include <tenure/pool/pool.hpp>

int main() {
    tenure::pool<int> numbers;
    if (numbers.construct(1)) {
        numbers.clear();
    }
}
"""

TREE = {
    "examples/pool.cpp": EXAMPLE,
    "docs/guide.md": "# Guide\n\n## A `pool`, twice\n\n## A `pool`, twice\n\n```\n# no heading\n```\n",
    "src/tenure/pool/pool.hpp": "#pragma once\n/// Example        examples/pool.cpp\n",
}


class CheckLinks(unittest.TestCase):
    def check(self, readme, changes=None):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**TREE, **(changes or {}), "README.md": readme}.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            done = subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def passes(self, readme):
        self.assertEqual(self.check(readme), (0, "links: ok\n"))

    def refused(self, readme, expected, changes=None):
        status, output = self.check(readme, changes)
        self.assertEqual(status, 1, output)
        self.assertIn(expected, output)

    def test_links_to_files_headings_and_the_web_pass(self):
        self.passes("# T\n[a](docs/guide.md) [b](docs/guide.md#a-pool-twice-1) [c](#t) [d](docs) ![e](https://e.org/x)\n")

    def test_what_looks_like_a_link_inside_code_is_left_alone(self):
        self.passes("`[a](gone.md)`\n\n```cpp\ncall[a](gone);\n```\n")

    def test_a_link_to_a_file_that_is_not_there_is_refused(self):
        self.refused("\n[a](docs/gone.md)\n", "README.md:2: error: docs/gone.md does not exist")
        self.refused("[a]: docs/gone.md\n", "README.md:1: error: docs/gone.md does not exist")

    def test_a_link_to_a_heading_that_is_not_there_is_refused(self):
        self.refused("[a](docs/guide.md#gone)\n", "README.md:1: error: docs/guide.md#gone: no such heading")
        self.refused("[a](docs/guide.md#no-heading)\n", "no such heading")

    def test_a_link_out_of_the_tree_is_refused(self):
        self.refused("[a](../elsewhere.md)\n", "README.md:1: error: ../elsewhere.md leads outside of the tree")
        self.refused("[a](/etc/passwd)\n", "README.md:1: error: /etc/passwd is an absolute path")

    def test_a_block_quoted_from_an_example_passes(self):
        self.passes(f"<!-- examples/pool.cpp -->\n```cpp\n{EXAMPLE}```\n")

    def test_the_inside_of_a_function_may_be_quoted_further_left(self):
        self.passes("<!-- examples/pool.cpp -->\n\n```cpp\nif (numbers.construct(1)) {\n    numbers.clear();\n}\n```\n")

    def test_a_block_that_differs_from_its_example_is_refused(self):
        self.refused("<!-- examples/pool.cpp -->\n```cpp\nnumbers.clean();\n```\n",
                     "README.md:2: error: the block is not in examples/pool.cpp: no line there is `numbers.clean();`")
        self.refused("<!-- examples/pool.cpp -->\n```cpp\nif (numbers.construct(1)) {\nnumbers.clear();\n```\n",
                     "README.md:2: error: the block is not in examples/pool.cpp")

    def test_a_quotation_without_its_file_or_its_block_is_refused(self):
        self.refused("<!-- examples/gone.cpp -->\n```cpp\n```\n", "README.md:2: error: quotes examples/gone.cpp")
        self.refused("<!-- examples/pool.cpp -->\ntext\n", "README.md:1: error: no fenced block follows")
        self.refused("<!-- examples/pool.cpp -->\n", "README.md:1: error: no fenced block follows")

    def test_a_card_whose_example_is_not_there_is_refused(self):
        self.refused("", "src/tenure/arena/arena.hpp:2: error: the card names examples/arena.cpp",
                     {"src/tenure/arena/arena.hpp": "#pragma once\n/// Example        examples/arena.cpp\n"})


if __name__ == "__main__":
    unittest.main()
