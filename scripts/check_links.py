#!/usr/bin/env python3
# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Checks links, quotations and examples in the documentation.

Fails on a markdown link to a missing file or heading, on a fenced block below <!-- examples/foo.cpp --> whose text is
not in that file, and on a header whose card names a missing example. Web addresses are not checked, so that the test
needs no network.

usage: check_links.py [ROOT]
"""

import re
import sys
import textwrap
from pathlib import Path

SKIPPED_FOLDERS = {".git", "build", "results"}
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
DEFINITION = re.compile(r"^\s{0,3}\[[^\]]+\]:\s*(\S+)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$")
QUOTED = re.compile(r"^\s*<!--\s*((?:examples|tests|src|lab|dotnet|packaging)/\S+)\s*-->\s*$")
FENCE = re.compile(r"^\s*(```+|~~~+)")
EXAMPLE_OF_CARD = re.compile(r"^///\s+Example\s+(\S+)")


def slug(heading):
    """The anchor of a heading, as the usual markdown hosts generate it."""
    text = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(path):
    found, inside = {}, False
    for line in path.read_text(encoding="utf-8").splitlines():
        if FENCE.match(line):
            inside = not inside
        heading = None if inside else HEADING.match(line)
        if heading:
            name = slug(heading[1])
            found[name] = found.get(name, -1) + 1
        for name in re.findall(r'<a (?:id|name)="([^"]+)"', line):
            found.setdefault(name, 0)
    return {f"{name}-{n}" if n else name for name, count in found.items() for n in range(count + 1)}


def link_problem(root, document, target):
    """The problem with a link; None when there is none."""
    if re.match(r"^[a-z][a-z0-9+.-]*:", target):
        return None
    name, _, anchor = target.partition("#")
    path = (document.parent / name).resolve() if name else document
    if name.startswith("/"):
        return f"{target} is an absolute path"
    if not path.is_relative_to(root):
        return f"{target} leads outside of the tree"
    if not path.exists():
        return f"{target} does not exist"
    if anchor and path.suffix == ".md" and anchor not in anchors(path):
        return f"{target}: no such heading in {path.relative_to(root)}"
    return None


def check_document(root, document, error):
    lines = document.read_text(encoding="utf-8").splitlines()
    quoted = None  # (file quoted by the next fenced block, line of the comment)
    number = 0
    while number < len(lines):
        line = lines[number]
        fence = FENCE.match(line)
        if fence:
            end = number + 1
            while end < len(lines) and lines[end].strip() != fence[1]:
                end += 1
            if quoted:
                check_quotation(root, quoted, lines[number + 1 : end], lambda text, at=number + 1: error(at, text))
            quoted, number = None, end + 1
            continue
        comment = QUOTED.match(line)
        if quoted and line.strip():
            error(quoted[1], f"no fenced block follows the comment that quotes {quoted[0]}")
            quoted = None
        if comment:
            quoted = (comment[1], number + 1)
        text = re.sub(r"`[^`]*`", "", line)
        for target in LINK.findall(text) + DEFINITION.findall(text):
            problem = link_problem(root, document, target)
            if problem:
                error(number + 1, problem)
        number += 1
    if quoted:
        error(quoted[1], f"no fenced block follows the comment that quotes {quoted[0]}")


def check_quotation(root, quoted, block, error):
    name, _ = quoted
    if not (root / name).is_file():
        error(f"quotes {name}, which does not exist")
        return
    # An example may show the inside of main(), so the quotation may be indented less than the file; nothing else may
    # differ.
    wanted = textwrap.dedent("\n".join(block)).strip("\n").split("\n")
    source = (root / name).read_text(encoding="utf-8").split("\n")
    for start in range(len(source) - len(wanted) + 1):
        part = textwrap.dedent("\n".join(source[start : start + len(wanted)])).split("\n")
        if [line.rstrip() for line in part] == [line.rstrip() for line in wanted]:
            return
    missing = next((line for line in wanted if line.strip() and line.strip() not in (s.strip() for s in source)), None)
    error(f"the block is not in {name}" + (f": no line there is `{missing.strip()}`" if missing else ""))


def files(root, suffix):
    for path in sorted(root.rglob(f"*{suffix}")):
        if not SKIPPED_FOLDERS & set(path.relative_to(root).parts):
            yield path


def check(root):
    errors = 0

    def report(path, line, text):
        nonlocal errors
        errors += 1
        print(f"{path.relative_to(root)}:{line}: error: {text}")

    for document in files(root, ".md"):
        check_document(root, document, lambda line, text, document=document: report(document, line, text))
    for header in files(root, ".hpp"):
        for number, line in enumerate(header.read_text(encoding="utf-8").splitlines(), 1):
            example = EXAMPLE_OF_CARD.match(line)
            if example and not (root / example[1]).is_file():
                report(header, number, f"the card names {example[1]}, which does not exist")
    return errors


if __name__ == "__main__":
    errors = check(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve())
    print(f"links: {errors} errors" if errors else "links: ok")
    sys.exit(1 if errors else 0)
