#!/usr/bin/env python3
# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Breaks each rule of the house once, in a small tree of its own, and reads the message."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts/check_rooms.py"

HOUSE = {
    "src/tenure/README.md": """# The rooms

| room | may include |
| --- | --- |
| base | the standard library |
| platform, report | base |
| pool | base, platform |
| experiments | every library room, report |
| cli | everything |
""",
    "src/tenure/tenure.hpp": "#pragma once\n#include <tenure/pool/pool.hpp>\n",
    "src/tenure/base/config.hpp": "#pragma once\n#ifndef TENURE_CHECKS\n#    define TENURE_CHECKS 0\n#endif\n",
    "src/tenure/base/align.hpp": "#pragma once\n#include <cstddef>\n#include <tenure/base/config.hpp>\n",
    "src/tenure/platform/memory.hpp": "#pragma once\n#include <tenure/base/align.hpp>\n",
    "src/tenure/platform/linux/memory.cpp": "#include <sys/mman.h>\n#if defined(MAP_HUGETLB)\n#endif\n",
    "src/tenure/pool/pool.hpp": "#pragma once\n#include <tenure/platform/memory.hpp>\n",
    "lab/report/result/result.hpp": "#pragma once\n#include <string>\n",
    "lab/bench/experiments/pools.cpp": '#include "report/result/result.hpp"\n#include <tenure/tenure.hpp>\n',
    "lab/cli/main.cpp": '#include "report/result/result.hpp"\n#include <tenure/pool/pool.hpp>\n',
    "lab/cli/processes.cpp": "#include <sys/wait.h>\n",
}


class CheckRooms(unittest.TestCase):
    def check(self, changes=None):
        """Runs the script on the house with these files changed; gives its exit status and what it printed."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**HOUSE, **(changes or {})}.items():
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

    def table_with(self, old, new):
        text = HOUSE["src/tenure/README.md"]
        self.assertIn(old, text)
        return {"src/tenure/README.md": text.replace(old, new)}

    def test_the_house_as_it_is_passes(self):
        status, output = self.check()
        self.assertEqual((status, output), (0, "rooms: ok\n"))

    def test_an_include_that_the_table_does_not_allow_is_refused(self):
        self.refused({"src/tenure/base/align.hpp": "#pragma once\n\n#include <tenure/pool/pool.hpp>\n"},
                     "src/tenure/base/align.hpp:3: error: `base` may not include `pool`")

    def test_a_quoted_and_a_relative_include_are_seen_as_well(self):
        self.refused({"lab/report/result/result.hpp": '#include "bench/experiments/a.hpp"\n', "lab/bench/experiments/a.hpp": "\n"},
                     "lab/report/result/result.hpp:1: error: `report` may not include `experiments`")
        self.refused({"src/tenure/base/align.hpp": '#include "../platform/memory.hpp"\n'},
                     "src/tenure/base/align.hpp:1: error: `base` may not include `platform`")

    def test_another_rooms_detail_is_private_save_to_the_rooms_that_repeat_its_inline_paths(self):
        table = self.table_with("| pool | base, platform |", "| pool | base, platform |\n| handle, capi | base, pool |")
        detail = {"src/tenure/pool/detail/segment.hpp": "#pragma once\n", "src/tenure/capi/quick.cpp": "\n",
                  "src/tenure/pool/pool.hpp": "#pragma once\n#include <tenure/pool/detail/segment.hpp>\n"}
        include = "#include <tenure/pool/detail/segment.hpp>\n"
        self.refused({**table, **detail, "src/tenure/handle/handle.cpp": include},
                     "src/tenure/handle/handle.cpp:1: error: src/tenure/pool/detail/segment.hpp is private to `pool`")
        status, output = self.check({**table, **detail, "src/tenure/handle/handle.cpp": "\n", "src/tenure/capi/quick.cpp": include})
        self.assertEqual(status, 0, output)

    def test_a_library_room_may_not_include_the_whole_library(self):
        self.refused({"src/tenure/pool/small.hpp": "#include <tenure/tenure.hpp>\n"},
                     "src/tenure/pool/small.hpp:1: error: `pool` may not include `the whole library`")

    def test_an_include_of_a_file_that_is_not_there_is_refused(self):
        self.refused({"src/tenure/pool/pool.hpp": "#include <tenure/base/gone.hpp>\n"},
                     'src/tenure/pool/pool.hpp:1: error: "tenure/base/gone.hpp" is not in this tree')

    def test_a_cycle_in_the_table_is_refused(self):
        self.refused(self.table_with("| platform, report | base |", "| platform | base, pool |\n| report | base |"),
                     "src/tenure/README.md:6: error: the table has a cycle: platform -> pool -> platform")

    def test_a_cycle_through_the_room_that_may_include_everything_is_refused(self):
        self.refused(self.table_with("| pool | base, platform |", "| pool | base, platform, cli |"),
                     "the table has a cycle: cli -> experiments -> pool -> cli")

    def test_files_that_include_each_other_are_refused(self):
        self.refused({"src/tenure/pool/pool.hpp": "#pragma once\n#include <tenure/pool/block.hpp>\n",
                      "src/tenure/pool/block.hpp": "#pragma once\n\n#include <tenure/pool/pool.hpp>\n"},
                     "src/tenure/pool/pool.hpp:2: error: files include each other: src/tenure/pool/pool.hpp -> "
                     "src/tenure/pool/block.hpp -> src/tenure/pool/pool.hpp")

    def test_a_condition_of_the_preprocessor_is_refused(self):
        for condition in ("#if 1", "#ifdef NDEBUG", "#ifndef NDEBUG", "#elif 1", "  #  if 1"):
            self.refused({"src/tenure/pool/pool.hpp": f"#pragma once\n{condition}\n"},
                         "src/tenure/pool/pool.hpp:2: error: `#", "outside platform/ and base/config.hpp")
            self.refused({"lab/cli/main.cpp": f"\n\n{condition}\n"}, "lab/cli/main.cpp:3: error: `#")
        self.assertEqual(self.check({"src/tenure/base/compiler.hpp": "#pragma once\n#if 1\n#endif\n"}), (0, "rooms: ok\n"))

    def test_a_word_of_a_compiler_or_a_c_library_is_refused(self):
        for word in ("__builtin_trap", "__atomic_load_n", "__ATOMIC_RELAXED", "__attribute__", "__declspec", "__int128",
                     "__extension__", "__asm__", "__GLIBC__", "_MSC_VER", "_mm_pause", "_InterlockedExchange"):
            self.refused({"src/tenure/pool/pool.hpp": f"#pragma once\n    {word} use;\n"},
                         f"src/tenure/pool/pool.hpp:2: error: `{word}` is a compiler's or a C library's word")
            self.refused({"lab/cli/main.cpp": f"{word}\n"}, f"lab/cli/main.cpp:1: error: `{word}`")
        self.refused({"src/tenure/pool/pool.cpp": 'asm volatile("");\n'}, "src/tenure/pool/pool.cpp:1: error: `asm`")

    def test_words_of_compilers_are_allowed_where_they_get_names_in_comments_and_in_the_labs_exceptions(self):
        words = "__builtin_trap();\n"
        for name in ("src/tenure/base/compiler.hpp", "src/tenure/base/config.hpp", "src/tenure/platform/linux/memory.cpp",
                     "lab/bench/harness/stopwatch.hpp"):
            table = self.table_with("| experiments |", "| experiments, harness |") if "harness" in name else {}
            self.assertEqual(self.check({**table, name: words}), (0, "rooms: ok\n"))
        comment = "#pragma once\n// not __builtin_trap()\n/** __attribute__ */\nint asm_bytes, mask_asm; // __int128\n"
        self.assertEqual(self.check({"src/tenure/pool/pool.hpp": comment}), (0, "rooms: ok\n"))

    def test_a_header_of_the_system_outside_platform_is_refused(self):
        for header in ("sys/mman.h", "unistd.h", "pthread.h", "linux/futex.h", "windows.h"):
            self.refused({"src/tenure/pool/pool.hpp": f"#include <{header}>\n"},
                         f"src/tenure/pool/pool.hpp:1: error: <{header}> is a system header")
            self.refused({"lab/cli/main.hpp": f"#include <{header}>\n"}, "lab/cli/main.hpp:1: error:")

    def atomics(self, text):
        return {"src/tenure/pool/pool.hpp": "#pragma once\n" + text}

    def test_an_atomic_variable_without_a_comment_is_refused(self):
        for variable in ("std::atomic<int> count{0};", "detail::atomic<void (*)(int) noexcept> function{nullptr};",
                         "static constinit std::atomic<bool> known[4]{};", "std::array<detail::atomic<int*>, 8> places{};",
                         "using word = atomic<unsigned>;", "std::atomic_flag is_taken;"):
            self.refused(self.atomics(f"\n{variable}\n"),
                         "src/tenure/pool/pool.hpp:3: error: an atomic variable without a comment")
            commented = f"{variable} // relaxed: a counter\n\n// Released by push(),\n// acquired by pop().\n{variable}\n"
            self.assertEqual(self.check(self.atomics(commented)), (0, "rooms: ok\n"))

    def test_a_comment_covers_the_atomic_variables_that_follow_it_at_once(self):
        pair = "std::atomic<int> count{0};\nstd::atomic<int> bytes{0};\n"
        self.assertEqual(self.check(self.atomics("// Counters: relaxed.\n" + pair)), (0, "rooms: ok\n"))
        self.refused(self.atomics("// Counters: relaxed.\n" + pair + "int other;\nstd::atomic<int> more{0};\n"),
                     "src/tenure/pool/pool.hpp:6: error: an atomic variable without a comment")
        self.refused(self.atomics("std::atomic<int> count{0}; // relaxed\nstd::atomic<int> bytes{0};\n"),
                     "src/tenure/pool/pool.hpp:3: error: an atomic variable without a comment")

    def test_a_comment_on_an_atomic_variable_names_its_order(self):
        self.refused(self.atomics("std::atomic<int> count{0}; // of blocks\n"),
                     "src/tenure/pool/pool.hpp:2: error: the comment on an atomic variable names no memory order")
        for order in ("relaxed: a counter", "Released with the pool, which readers acquire.", "sequentially consistent"):
            self.assertEqual(self.check(self.atomics(f"// {order}\nstd::atomic<int> count{{0}};\n")), (0, "rooms: ok\n"))

    def test_references_to_atomic_variables_and_the_lab_need_no_comment(self):
        use = ("std::atomic<int>& place = all[0];\nvoid take(std::atomic<int>& from);\n"
               "constinit detail::atomic<int> detail::count{0};\nint seen = std::atomic_ref<int>(value).load();\n")
        self.assertEqual(self.check({**self.atomics(use), "lab/cli/main.cpp": "std::atomic<int> count{0};\n"}),
                         (0, "rooms: ok\n"))

    def test_a_file_past_600_lines_is_refused_and_a_long_one_warned_about(self):
        self.refused({"src/tenure/pool/pool.cpp": "\n" * 601}, "src/tenure/pool/pool.cpp:601: error: 601 lines")
        self.refused({"tests/pool/pool_test.cpp": "\n" * 601}, "tests/pool/pool_test.cpp:601: error: 601 lines")
        status, output = self.check({"src/tenure/pool/pool.hpp": "#pragma once\n" + "\n" * 250})
        self.assertEqual(status, 0, output)
        self.assertIn("src/tenure/pool/pool.hpp:251: warning: 251 lines", output)

    def test_a_folder_with_more_than_12_types_is_refused(self):
        types = {f"lab/report/chart/type_{i}{suffix}": "\n" for i in range(12) for suffix in (".hpp", ".cpp")}
        self.assertEqual(self.check(types), (0, "rooms: ok\n"))
        self.refused({**types, "lab/report/chart/one_more.cpp": "\n"},
                     "lab/report/chart:1: error: 13 types in 25 files, but the maximum is 12")

    def test_a_folder_may_state_a_larger_limit(self):
        def types(count):
            return {f"src/tenure/base/type_{i}.hpp": "#pragma once\n" for i in range(count)}
        self.assertEqual(self.check(types(30)), (0, "rooms: ok\n"))  # the house has two more
        self.refused(types(34), "src/tenure/base:1: error: 36 types in 36 files, but the maximum is 35")

    def test_folders_of_tests_and_examples_have_no_limit(self):
        files = {f"{folder}/file_{i}.cpp": "\n" for i in range(13) for folder in ("tests/pool", "examples")}
        self.assertEqual(self.check(files), (0, "rooms: ok\n"))

    def test_a_room_that_is_not_in_the_table_is_refused(self):
        self.refused({"src/tenure/cellar/wine.hpp": "#pragma once\n"},
                     "src/tenure/cellar/wine.hpp:1: error: the room `cellar` is not in the table")

    def test_a_room_of_the_table_that_does_not_exist_is_refused(self):
        self.refused(self.table_with("| pool | base, platform |", "| pool, attic | base, platform |"),
                     "src/tenure/README.md:7: error: `attic` is in the table but neither")
        self.refused(self.table_with("| pool | base, platform |", "| pool | base, platform, attic |"),
                     "src/tenure/README.md:7: error: `pool` may include `attic`, which is not a room")

    def test_a_file_outside_every_room_is_refused(self):
        self.refused({"src/tenure/stray.hpp": "#pragma once\n"}, "src/tenure/stray.hpp:1: error: is in no room")

    def test_a_missing_table_is_refused(self):
        self.refused({"src/tenure/README.md": "# The rooms\n"}, "src/tenure/README.md:1: error: no table")


if __name__ == "__main__":
    unittest.main()
