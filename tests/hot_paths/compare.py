#!/usr/bin/env python3
# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Compares the inline paths of the allocators, compiled with a feature and without: the instructions must be the same.

usage: compare.py OBJDUMP OBJECT OBJECT_WITHOUT
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


def main(objdump, whole, without):
    ours, bare = functions_of(objdump, whole), functions_of(objdump, without)
    paths = [name for name in ours if "allocate" in name or "construct" in name or "destroy" in name]
    if len(paths) < 19:
        sys.exit(f"only {len(paths)} paths were found in {whole}: {sorted(ours)}")
    wrong = 0
    for name in sorted(ours.keys() | bare.keys()):
        if ours.get(name) == bare.get(name):
            continue
        wrong += 1
        print(f"{name} differs:")
        for kind, lines in (("with it", ours.get(name, [])), ("without", bare.get(name, []))):
            print(f"  {kind}: {len(lines)} lines")
            print("\n".join(f"    {line}" for line in lines))
    if wrong:
        sys.exit(f"{wrong} of {len(ours)} functions are not the same: keep the feature on slow paths")
    print(f"{len(ours)} functions, {sum(map(len, ours.values()))} lines: the same")


main(*sys.argv[1:])
