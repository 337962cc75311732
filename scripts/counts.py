# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Counts passed, failed and skipped tests, and decides which skips continuous integration accepts.

A script that counts ends with `N passed, N failed, N skipped`, alone on its line, and prints one line
`left out: NAME: REASON` for each test that it skipped. ctest reports its tests in a JUnit file.

A test that is skipped in one tree and runs in another is covered. With CI=true every other skip must have one of the
reasons below, which the machine cannot change; otherwise it fails the run.
"""

import os
import re
import shutil
import xml.etree.ElementTree
from typing import NamedTuple

CLOSING = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)
LEFT_OUT = re.compile(r"^left out: (.*)$", re.MULTILINE)
CTEST_CLOSING = re.compile(r"tests passed, (\d+) tests? failed out of (\d+)")

# Reasons that are accepted: something that the machine may lack and scripts/setup cannot install, or a case that is not
# a test by itself. Every other test that is skipped in every tree fails with CI=true: fix the set-up, or the test.
ACCEPTED = [re.compile(pattern) for pattern in (
    # Another test runs it, in a process of its own with other settings.
    r"^not under passthrough$",
    r"^asked in processes of their own$",
    # The case does not exist for this parameter.
    r"^it overflows into the process heap$",
    r"^an empty block goes back, and the source gives no other$",
    # Hardware, and limits of the kernel or the file system.
    r"^no Vulkan device$",
    r"^this kernel does not count the queue$",
    r"^this machine has no watchpoints: (?:the system does not allow|all debug registers|this machine has no|this kernel)",
    r"^the system does not let the peak start anew$",
    r"process_vm_readv is forbidden here$",
    r"^(?:gdb|lldb) cannot run programs here\b",
    r"^the memory of another process cannot be read here$",
    # Debian's package of lldb does not find its own Python files in every environment.
    r"^lldb with Python is not installed$",
    r"^a file here can have no capabilities: ",
    r"^the file system for temporary files takes no sparse file of 1 TiB$",
    r"^The machine has \d+ MiB of \d+ free\.$",
    # No package has this peer.
    r"^no package has ",
    # The registry does not have the package (a runtime pack of the platform), or cannot be reached.
    r"\bNU1(?:100|101|102|103|301)\b",
    # No apt, no network, or a release with another version of jemalloc. A build that fails is a failure by itself.
    r"^the jemalloc of the package was not built\b",
    # Programs that scripts/setup does not install.
    r"^(?:java|javac|node|dotnet|valgrind) is not installed$",
    r"^(?:there is )?no \.NET SDK(?: 10 or newer is installed)?$",
)]

# Accepted only if the program is not installed. If it is, earlier steps have built what the test needs.
ACCEPTED_WITHOUT = {"dotnet": re.compile(r"^the \.NET tool jembench is not there")}


class Skip(NamedTuple):
    name: str
    reason: str


class Count(NamedTuple):
    passed: int
    failed: int
    skipped: int
    skips: list  # of Skip: those that have a name
    ran: set     # names of tests that ran, as far as known


def closing_line(passed, failed, skipped):
    return f"{passed} passed, {failed} failed, {skipped} skipped"


def in_ci():
    return os.environ.get("CI") == "true"


def skip_of(line):
    """Parses the text after `left out: `. The name may be missing."""
    name, colon, reason = line.partition(": ")
    return Skip(name, reason) if colon else Skip("", line)


def reason_of(output):
    """Why a test skipped itself: GoogleTest's message, or the text after `left out: `."""
    said = re.search(r"^left out: (.*)$", output, re.MULTILINE) or re.search(r": Skipped\n(.*)", output)
    return said[1].strip() if said and said[1].strip() else "no reason given"


def of_ctest(text, junit):
    """Counts a run of ctest: totals from its last line, names from its JUnit file."""
    found = CTEST_CLOSING.search(text)
    failed, total = int(found[1]), int(found[2])
    skips, ran = [], set()
    for case in xml.etree.ElementTree.fromstring(junit).iter("testcase"):
        name, why = case.get("name"), case.find("skipped")
        # A test whose program is missing is "notrun" too; ctest counts it as failed.
        if case.get("status") == "notrun" and why is not None and why.get("message", "").startswith("SKIP_"):
            skips.append(Skip(name, reason_of(case.findtext("system-out") or "")))
        elif case.get("status") in ("run", "fail"):
            ran.add(name)
    return Count(total - failed - len(skips), failed, len(skips), skips, ran)


def of_step(status, text, junit=None):
    """Counts a step from its output: ctest, a script with a closing line, or a single check."""
    if junit is not None and CTEST_CLOSING.search(text):
        count = of_ctest(text, junit)
    else:
        skips = [skip_of(line) for line in LEFT_OUT.findall(text)]
        own = CLOSING.findall(text)
        if own:
            passed, failed, skipped = (int(number or 0) for number in own[-1])
            skips += [Skip("", "no reason given")] * (skipped - len(skips))
            count = Count(passed, failed, len(skips), skips, set())
        else:
            good = not status and not skips
            count = Count(int(good), 0, len(skips), skips, set())
    return count._replace(failed=count.failed or 1) if status else count


def place_of(name):
    """The test behind a name: one that runs in several forms or at several levels is the same test."""
    name = re.sub(r"^(checked\.)?(dropin\.)?((hardened|verified|grouped)\.)?", r"\2", name)
    return re.sub(r"\bv\d+_\d+_checks\d+::", "", name)  # the inline namespace of a type parameter


def not_covered(skips, ran):
    """The skips whose test ran in no tree."""
    places = {place_of(name) for name in ran}
    return [skip for skip in skips if place_of(skip.name) not in places]


def is_accepted(skip):
    return (any(pattern.search(skip.reason) for pattern in ACCEPTED)
            or any(pattern.search(skip.reason) and not shutil.which(program) for program, pattern in ACCEPTED_WITHOUT.items()))


def by_reason(skips):
    """Lines that name the skipped tests, one line per reason."""
    names = {}
    for skip in skips:
        names.setdefault(skip.reason, []).append(skip.name)
    return [f"{reason}: {', '.join(name for name in each if name)}" if any(each) else reason
            for reason, each in names.items()]
