# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Gives scripts/check_headers.py a small tree in which a header costs too much, and reads the message."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts/check_headers.py"

CARD = "/// \\file\n/// Adaptors.\n///\n/// Compile time   0.3 s, for <memory>.\n"
TREE = {
    "src/tenure/base/align.hpp": "#include <cstddef>\n#include <unistd.h>\n",
    "src/tenure/heap/detail/pages.hpp": "#include <bit>\n",
    "src/tenure/heap/heap.hpp": "#include <string_view>\n#include <tenure/heap/detail/pages.hpp>\n",
    "src/tenure/adapt/unique.hpp": CARD + "#include <memory>\n",
}


class CheckHeaders(unittest.TestCase):
    def check(self, changes=None):
        """Runs the script on the tree with these files changed; gives its exit status and what it printed."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**TREE, **(changes or {})}.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            done = subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def refused(self, changes, *expected):
        status, output = self.check(changes)
        self.assertEqual(status, 1, output)
        for text in expected:
            self.assertIn(text, output)

    def test_light_headers_pass_and_so_does_one_that_names_what_it_costs(self):
        status, output = self.check()
        self.assertEqual(status, 0, output)
        self.assertIn("3 public headers, 0 errors", output)

    def test_a_heavy_header_is_named_with_the_files_it_comes_through(self):
        self.refused({"src/tenure/heap/detail/pages.hpp": "#include <mutex>\n"}, "src/tenure/heap/heap.hpp: error",
                     "<mutex>", "tenure/heap/heap.hpp -> tenure/heap/detail/pages.hpp")

    def test_a_private_header_alone_may_be_heavy(self):
        status, output = self.check({"src/tenure/heap/detail/other.hpp": "#include <mutex>\n"})
        self.assertEqual(status, 0, output)

    def test_a_heavy_header_that_is_allowed_says_so_in_its_card(self):
        self.refused({"src/tenure/adapt/unique.hpp": "/// \\file\n/// Adaptors.\n#include <memory>\n"},
                     "does not say so in its card")

    def test_an_allowed_header_brings_no_other_along(self):
        self.refused({"src/tenure/adapt/unique.hpp": CARD + "#include <memory>\n#include <regex>\n"}, "<regex>")

    def test_an_allowance_that_is_not_needed_is_removed(self):
        self.refused({"src/tenure/adapt/unique.hpp": CARD}, "no longer brings along <memory>")


if __name__ == "__main__":
    unittest.main()
