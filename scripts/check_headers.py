#!/usr/bin/env python3
# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Checks what a public header of the library costs the files that include it: which standard headers it brings along.

A header that includes <atomic>, <mutex>, <memory>, <algorithm> or <iterator>, itself or through another header, takes
each of its users 0.1 to 0.3 s (GCC 12, C++20). The standard headers that a public header may bring along are in LIGHT.
A header in HEAVY needs more; a line of its card, "Compile time", says so and names the standard header. For all others
the check fails on the first heavy header, and prints through which files it comes.

usage: check_headers.py [ROOT]
"""

import re
import sys
from pathlib import Path

SOURCES = Path("src")
PRIVATE = "detail"
# The C++ ones cost 0.1 s together, most of it for <string_view> and <span>.
LIGHT = set("""array bit compare concepts cstdarg cstddef cstdint cstdlib cstring cmath limits new optional span
    string_view type_traits utility stdarg.h stddef.h stdint.h""".split())
# Public headers that bring along others, and which.
HEAVY = {
    "tenure/adapt/resource_adaptor.hpp": {"memory_resource"},
    "tenure/adapt/unique.hpp": {"memory"},
    "tenure/text/fmt.hpp": {"fmt/format.h"},
    "tenure/tenure.hpp": {"memory", "memory_resource"},
}

INCLUDE = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)
LIMIT_OF_CARD = "#include"


def includes_of(root, name, known):
    if name not in known:
        known[name] = INCLUDE.findall((root / SOURCES / name).read_text(encoding="utf-8"))
    return known[name]


def brought_along(root, name, known):
    """Standard header -> the files through which `name` includes it."""
    found, seen, waiting = {}, {name}, [(name, [name])]
    while waiting:
        file, path = waiting.pop(0)
        for include in includes_of(root, file, known):
            if not (root / SOURCES / include).is_file():
                found.setdefault(include, path)
            elif include not in seen:
                seen.add(include)
                waiting.append((include, path + [include]))
    return found


def main(root):
    errors, known, headers = 0, {}, []
    for path in sorted((root / SOURCES / "tenure").rglob("*")):
        name = path.relative_to(root / SOURCES)
        if path.suffix in {".hpp", ".h"} and PRIVATE not in name.parts:
            headers.append(name.as_posix())

    def error(name, text):
        nonlocal errors
        errors += 1
        print(f"{SOURCES}/{name}: error: {text}")

    for name in headers:
        allowed = HEAVY.get(name, set())
        found = {header: path for header, path in brought_along(root, name, known).items() if header not in LIGHT
                 # Headers of the operating system are few and short; check_rooms.py allows them in platform/ only.
                 and not re.fullmatch(r"(.+/)?\w+\.h", header) or header in allowed}
        for header, path in found.items():
            if header not in allowed:
                error(name, f"brings along <{header}>, which is slow to compile: {' -> '.join(path)}")
        for header in allowed - found.keys():
            error(name, f"no longer brings along <{header}>: remove it from HEAVY in scripts/check_headers.py")
        card = (root / SOURCES / name).read_text(encoding="utf-8").split(LIMIT_OF_CARD)[0]
        for header in allowed & found.keys():
            if not re.search(rf"^///\s.*<{re.escape(header)}>", card, re.MULTILINE) or "Compile time" not in card:
                error(name, f"brings along <{header}> and does not say so in its card, in a line 'Compile time'")
    for name in HEAVY.keys() - set(headers):
        if root == ROOT:
            error(name, "is in HEAVY in scripts/check_headers.py, but does not exist")
    print(f"{len(headers)} public headers, {errors} errors")
    return 1 if errors else 0


ROOT = Path(__file__).resolve().parent.parent

if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT))
