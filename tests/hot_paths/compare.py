#!/usr/bin/env python3
# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Compares the inline paths of the allocators, compiled with hooks and without: the instructions must be the same.

usage: compare.py OBJDUMP OBJECT OBJECT_WITHOUT_HOOKS
"""

import re
import subprocess
import sys


def functions_of(objdump, path):
    """The instructions of each function, with the symbols that they refer to."""
    text = subprocess.run(
        [objdump, "--disassemble", "--reloc", "--no-show-raw-insn", "--no-addresses", path],
        check=True, capture_output=True, text=True,
    ).stdout
    found = {}
    name = None
    for line in text.splitlines():
        begin = re.match(r"<(\S+)>:$", line)
        if begin:
            name = begin.group(1)
            found[name] = []
        elif name and line.strip():
            found[name].append(line.strip())
    return found


def main(objdump, with_hooks, without_hooks):
    ours, bare = functions_of(objdump, with_hooks), functions_of(objdump, without_hooks)
    paths = [name for name in ours if "allocate" in name or "construct" in name or "destroy" in name]
    if len(paths) < 19:
        sys.exit(f"only {len(paths)} paths were found in {with_hooks}: {sorted(ours)}")
    wrong = 0
    for name in sorted(ours.keys() | bare.keys()):
        if ours.get(name) == bare.get(name):
            continue
        wrong += 1
        print(f"{name} differs:")
        for kind, lines in (("with hooks", ours.get(name, [])), ("without", bare.get(name, []))):
            print(f"  {kind}: {len(lines)} lines")
            print("\n".join(f"    {line}" for line in lines))
    if wrong:
        sys.exit(f"{wrong} of {len(ours)} functions are not the same with and without hooks: keep hooks on slow paths")
    print(f"{len(ours)} functions, {sum(map(len, ours.values()))} lines: the same with and without hooks")


main(*sys.argv[1:])
