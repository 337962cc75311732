#!/usr/bin/env python3
# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Checks the files against the table in src/tenure/README.md, which says which room may include which.

Fails on an include that the table does not allow, an include of another room's detail folder, a cycle in the table or
among files, a room or an include that is not in the table, a condition of the preprocessor outside platform/,
base/config.hpp, base/compiler.hpp and the C headers, a word of a compiler or a C library outside the same files (the
lab's exceptions are listed), a system header outside platform/ (the lab's sources, which start and watch
processes, may include one; its headers may not), an atomic variable of src/tenure without a comment that says which
memory order it needs and why, a folder of src/tenure or lab with more than 12 types, and a file past 600 lines. Warns at
the smaller limits for lines.

usage: check_rooms.py [ROOT]
"""

import re
import sys
from pathlib import Path

TABLE = "src/tenure/README.md"
LONGEST = 600
WARN_LINES = {"header": 250, "source": 400, "test": 400, "readme": 200}
TYPES_IN_FOLDER = 12
# Folders in which more types belong side by side: the limit, and why no division by meaning exists. Folders of tests and
# examples have no limit: each file is one entry of a list.
LARGER_FOLDERS = {
    "src/tenure/base": (35, "what every room uses, found by its name alone"),
    "src/tenure/capi": (14, "one source per room, and two for tenure_engine.h, which spans several"),
    "src/tenure/platform": (30, "one header per service of the operating system: the list that a new system implements"),
    "src/tenure/platform/linux": (13, "one source per header of platform that other POSIX systems implement otherwise"),
    "src/tenure/platform/windows": (38, "one source per header of platform, and what they share: no posix stands beside it"),
    "src/tenure/platform/posix": (23, "one source per header of platform, the three that write a stack, and copies"),
}
LIBRARY, LAB = Path("src/tenure"), Path("lab")
PRODUCTS = ("bench", "observe")  # folders of rooms within the lab
PRIVATE = "detail"  # a room's folder that other rooms stay out of
# They repeat the inline paths of the library for other languages and for malloc, or record what the heap's profile does.
SEE_THROUGH = ("capi", "dropin", "blocks", "tracer")
WHOLE_LIBRARY = "the whole library"  # src/tenure/tenure.hpp and the C headers, which are in no room
C_HEADERS = ("tenure.h", "tenure_engine.h", "tenure_quick.h", "tenure_text.h")
# These and platform/ may have conditions and words of compilers: the names in them are for all other files.
CONDITIONAL = (LIBRARY / "base/config.hpp", LIBRARY / "base/compiler.hpp", *(LIBRARY / name for name in C_HEADERS))
ON_SHARED_WORDS = "atomic access to plain words: of a recording, which the command maps, of the C library, or of a hook"
ON_OTHERS_TIME = "the processor's own clock, or its hint for loops that wait"
# Files of the lab with words of a compiler, and why. A new one needs a reason, or the names in base/compiler.hpp.
LAB_WORDS = {
    "lab/bench/experiments/library_peers/std_pmr.cpp": "keeps the optimiser from removing what is measured",
    "lab/bench/experiments/mitigations/mitigation_signs.cpp": "keeps the optimiser from removing a mistake on purpose",
    "lab/bench/experiments/modules/assimp.cpp": "a module's only visible symbol",
    "lab/bench/experiments/modules/openscenegraph.cpp": "a module's only visible symbol",
    "lab/bench/experiments/modules/tbb.cpp": "a module's only visible symbol",
    "lab/bench/experiments/shared/handover.hpp": ON_OTHERS_TIME,
    "lab/bench/experiments/shared/type_name.hpp": "reads a type's name from the text of a function",
    "lab/bench/experiments/vectors/loops/vectors_x86.cpp": "asks which instructions the processor has",
    "lab/bench/harness/machine/build_info.cpp": "tells the compiler's name",
    "lab/bench/harness/stopwatch.hpp": "keeps the optimiser from removing what is measured",
    "lab/bench/harness/tick_clock.hpp": ON_OTHERS_TIME,
    "lab/cli/subcommands/watch.cpp": ON_OTHERS_TIME,
    "lab/observe/blocks/interpose/malloc.cpp": "preloaded, and linked to no library: calloc's product",
    "lab/observe/blocks/record/recorder.cpp": "preloaded: runs when it is loaded and unloaded",
    "lab/observe/hook/interpose/allocation.cpp": "preloaded, and linked to no library: calloc's product",
    "lab/observe/hook/interpose/loader.cpp": "jumps to the function that it stands in front of",
    "lab/observe/hook/interpose/locks.cpp": ON_SHARED_WORDS,
    "lab/observe/hook/interpose/raw.hpp": "system calls without the C library, which is being watched",
    "lab/observe/hook/interpose/real.cpp": ON_SHARED_WORDS,
    "lab/observe/hook/patch/patches.cpp": "patches instructions while other threads run them",
    "lab/observe/hook/record/marks.cpp": ON_SHARED_WORDS,
    "lab/observe/hook/record/process.cpp": "tells the compiler that a function found by name does not return",
    "lab/observe/hook/record/recorder.cpp": ON_SHARED_WORDS,
    "lab/observe/hook/record/recorder.hpp": ON_SHARED_WORDS,
    "lab/observe/hook/record/recording.cpp": ON_SHARED_WORDS,
    "lab/observe/hook/record/regions.cpp": ON_SHARED_WORDS,
    "lab/observe/hook/record/stacks.cpp": ON_SHARED_WORDS,
    "lab/observe/hook/runtimes/openmp.cpp": ON_SHARED_WORDS,
    "lab/observe/hook/runtimes/tbb.cpp": ON_SHARED_WORDS,
    "lab/observe/replay/run/player.hpp": "a prefetch, which is part of what is measured",
    "lab/observe/tracer/record/recorder.cpp": "preloaded: runs when it is loaded and unloaded",
    "lab/observe/tracer/record/stack_log.cpp": "preloaded: a visible symbol, and the frame from which a stack is walked",
    "lab/observe/watch/recording.cpp": ON_SHARED_WORDS,
}
SOURCES = {".hpp", ".cpp", ".h", ".c"}
SIZED = SOURCES | {".py", ".sh", ".cmake", ".txt", ""}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")')
CONDITION = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif|elifdef|elifndef)\b")
SYSTEM_HEADER = re.compile(
    r"^(sys/.*|linux/.*|asm/.*|windows\.h|unistd\.h|pthread\.h|fcntl\.h|poll\.h|sched\.h|spawn\.h|dlfcn\.h|link\.h"
    r"|execinfo\.h|unwind\.h|ucontext\.h|semaphore\.h|termios\.h|dirent\.h)$"
)
WORD = re.compile(
    r"\b(__(?:builtin|atomic|sync)_\w+|__ATOMIC_\w+|__u?int128(?:_t)?|__attribute__|__declspec|__extension__|__restrict\w*"
    r"|__asm\w*|__forceinline|__PRETTY_FUNCTION__|__GNUC__|__clang__|__GLIBC__|_MSC_VER|_mm\d*_\w+|_Interlocked\w+"
    r"|asm(?=\s*(?:\(|volatile\b|goto\b)))"
)
ATOMIC = re.compile(r"\batomic(?:_flag\b|(?=<))")
# What follows the type in the declaration of a variable, or of a name for the type. Neither a reference nor the
# definition of what a header declares, whose name is qualified.
DECLARED = re.compile(r"(?:\s+\w+(?:\s*\[[^]]*\])*\s*(?:\{.*\}|=.*)?)?;$")
ORDER = re.compile(r"\b(relaxed|acquire[sd]?|release[sd]?|sequential|sequentially|consistent)\b", re.IGNORECASE)


class Findings:
    def __init__(self):
        self.errors = 0

    def error(self, path, line, text):
        self.errors += 1
        print(f"{path}:{line}: error: {text}")

    def warn(self, path, line, text):
        print(f"{path}:{line}: warning: {text}")


def read_lines(path):
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


def read_table(root, findings):
    """Room -> (set of rooms that it may include, line in the table)."""
    rooms, rows, inside = {}, [], False
    for number, line in enumerate(read_lines(root / TABLE), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells == ["room", "may include"]:
            inside = True
        elif inside and not line.startswith("|"):
            break
        elif inside and not set(line) <= set("|-: "):
            for room in re.split(r",\s*", cells[0]):
                rows.append((room, cells[1], number))
    if not rows:
        findings.error(TABLE, 1, "no table with the columns `room | may include`")

    names = [room for room, _, _ in rows]
    library = [room for room in names if (root / LIBRARY / room).is_dir()]
    for room, allowed, number in rows:
        may = set()
        for word in re.split(r",\s*", allowed):
            if word == "everything":
                may |= set(names) | {WHOLE_LIBRARY}
            elif word == "every library room":
                may |= set(library) | {WHOLE_LIBRARY}
            elif word in names:
                may.add(word)
            elif word not in ("the standard library", ""):
                findings.error(TABLE, number, f"`{room}` may include `{word}`, which is not a room of this table")
        rooms[room] = (may - {room}, number)
        if not any((root / folder / room).is_dir() for folder in (LIBRARY, LAB, *(LAB / each for each in PRODUCTS))):
            findings.error(TABLE, number, f"`{room}` is in the table but neither in {LIBRARY} nor in {LAB}")
    return rooms


def room_of(path):
    """The room of a path relative to the root; None when it belongs to none."""
    for base in (LIBRARY, LAB):
        if path.is_relative_to(base):
            inside = path.relative_to(base).parts
            if base == LAB and inside[0] in PRODUCTS:
                inside = inside[1:]
            if len(inside) > 1:
                return inside[0]
            return WHOLE_LIBRARY if path.name in ("tenure.hpp", *C_HEADERS) else ""
    return None


def resolve(root, path, angled, quoted):
    """The file in this tree that an include names, relative to the root; None for other files."""
    candidates = [Path("src") / (angled or quoted), LAB / (angled or quoted)]
    if quoted:
        # Normalised, so that ../ does not hide the room.
        inside = (root / path.parent / quoted).resolve()
        if inside.is_relative_to(root):
            candidates.insert(0, inside.relative_to(root))
    for candidate in candidates:
        if (root / candidate).is_file() and room_of(candidate) is not None:
            return candidate
    return None


def find_cycle(graph):
    """One cycle as a list of nodes whose first and last are the same; None when there is none."""
    state, trail = {}, []

    def visit(node):
        state[node] = "open"
        trail.append(node)
        for following in sorted(graph.get(node, ())):
            if state.get(following) == "open":
                return trail[trail.index(following) :] + [following]
            if following not in state:
                cycle = visit(following)
                if cycle:
                    return cycle
        trail.pop()
        state[node] = "done"
        return None

    for node in sorted(graph):
        if node not in state:
            cycle = visit(node)
            if cycle:
                return cycle
    return None


def without_comment(line):
    return "" if line.lstrip().startswith(("*", "/*")) else line.partition("//")[0]


def check_file(root, path, rooms, includes, findings):
    """Checks includes and conditions of one file of a room. Fills includes[path] = {included path: line}."""
    room = room_of(path)
    in_platform = room == "platform"
    conditions_allowed = in_platform or path in CONDITIONAL
    words_allowed = conditions_allowed or path.as_posix() in LAB_WORDS
    system_allowed = in_platform or (path.is_relative_to(LAB) and path.suffix in (".cpp", ".c"))
    # Both whole-library headers are above the rooms and may include all of them.
    may = set(rooms) if room == WHOLE_LIBRARY else rooms[room][0]

    for number, line in enumerate(read_lines(root / path), 1):
        condition = CONDITION.match(line)
        if condition and not conditions_allowed:
            findings.error(path, number, f"`#{condition[1]}` outside platform/ and base/config.hpp: let CMake choose "
                           "the file, or read a constant of base/config.hpp")
        word = None if words_allowed else WORD.search(without_comment(line))
        if word:
            findings.error(path, number, f"`{word[1]}` is a compiler's or a C library's word: use its name in "
                           "base/compiler.hpp or base/config.hpp, or give it one")
        include = INCLUDE.match(line)
        if not include:
            continue
        name = include[1] or include[2]
        if SYSTEM_HEADER.match(name) and not system_allowed:
            findings.error(path, number, f"<{name}> is a system header: only platform/ and sources of the lab may include it")
        target = resolve(root, path, include[1], include[2])
        if target is None:
            if name.startswith("tenure/") or include[2]:
                findings.error(path, number, f'"{name}" is not in this tree')
            continue
        includes.setdefault(path, {})[target] = number
        other = room_of(target)
        if other == "":
            findings.error(path, number, f"{target} is in no room")
        elif other != room and PRIVATE in target.parts and room not in SEE_THROUGH:
            findings.error(path, number, f"{target} is private to `{other}`: include a header of that room itself")
        elif other != room and other not in may:
            findings.error(path, number, f"`{room}` may not include `{other}` ({name}): {TABLE} allows "
                           f"{', '.join(sorted(may - {WHOLE_LIBRARY})) or 'the standard library only'}")


def declares_atomic(code):
    """Whether a line without its comment declares an atomic variable, or a name for the type of one."""
    found = ATOMIC.search(code)
    if not found or code.startswith(("//", "#", "*")):
        return False
    at, depth = found.end(), code[: found.start()].count("<")  # 1 in std::array<std::atomic<int>, 4>
    while at < len(code) and (depth > 0 or code[at] == "<"):
        depth += {"<": 1, ">": -1}.get(code[at], 0)
        at += 1
    return bool(DECLARED.match(code, at)) and (code[at:] != ";" or code.startswith("using "))


def check_atomics(root, path, findings):
    """Each declaration needs a comment in its line, or above it, or above the consecutive declarations it belongs to."""
    above, is_group = "", False  # the comment lines above, and whether they are those of the declarations above
    for number, line in enumerate(read_lines(root / path), 1):
        code, _, comment = line.partition("//")
        code = code.strip()
        if not code and comment:
            above, is_group = (comment if is_group else above + comment), False
        elif declares_atomic(code):
            is_group = True
            if not above and not comment:
                findings.error(path, number, "an atomic variable without a comment: who writes and reads it, and why its "
                               "memory order suffices")
            elif not ORDER.search(above + comment):
                findings.error(path, number, "the comment on an atomic variable names no memory order: relaxed, what a "
                               "release publishes and who acquires it, or sequentially consistent, and why that suffices")
        else:
            above, is_group = "", False


def check_sizes(root, path, findings):
    if path.suffix not in SIZED and path.name != "README.md":
        return
    lines = len(read_lines(root / path))
    kind = ("readme" if path.name == "README.md" else "test" if path.parts[0] == "tests" else
            "header" if path.suffix in (".hpp", ".h") else "source")
    if lines > LONGEST:
        findings.error(path, LONGEST + 1, f"{lines} lines, but the maximum is {LONGEST}: split it into two files")
    elif lines > WARN_LINES[kind]:
        findings.warn(path, WARN_LINES[kind] + 1, f"{lines} lines, aim for at most {WARN_LINES[kind]}")


def check_folder(folder, types, files, findings):
    limit, _ = LARGER_FOLDERS.get(folder.as_posix(), (TYPES_IN_FOLDER, None))
    if types > limit:
        findings.error(folder, 1, f"{types} types in {files} files, but the maximum is {limit}: divide the folder by "
                       "meaning, or state a larger limit and its reason in LARGER_FOLDERS of scripts/check_rooms.py")


def files_below(root, *folders):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(root)


def check(root):
    findings = Findings()
    rooms = read_table(root, findings)
    cycle = find_cycle({room: may - {WHOLE_LIBRARY} for room, (may, _) in rooms.items()})
    if cycle:
        findings.error(TABLE, rooms[cycle[0]][1], "the table has a cycle: " + " -> ".join(cycle))

    includes, unknown = {}, set()
    for path in files_below(root, LIBRARY, LAB):
        room = room_of(path)
        if room in ("", None) and path.suffix in SOURCES:
            findings.error(path, 1, "is in no room")
        elif room and room != WHOLE_LIBRARY and room not in rooms:
            if room not in unknown:
                findings.error(path, 1, f"the room `{room}` is not in the table of {TABLE}")
            unknown.add(room)
        elif room and path.suffix in SOURCES:
            check_file(root, path, rooms, includes, findings)
            if path.is_relative_to(LIBRARY):
                check_atomics(root, path, findings)

    for name in LAB_WORDS if root == ROOT else ():
        path = root / name
        if not path.is_file() or not any(WORD.search(without_comment(line)) for line in read_lines(path)):
            findings.error(name, 1, "has no word of a compiler: remove it from LAB_WORDS of scripts/check_rooms.py")

    cycle = find_cycle(includes)
    if cycle:
        findings.error(cycle[0], includes[cycle[0]][cycle[1]], "files include each other: " +
                       " -> ".join(str(path) for path in cycle))

    folders = {}  # of src/tenure and lab: folder -> (names of types, number of files)
    for path in files_below(root, LIBRARY, LAB, "tests", "scripts", "examples", "cmake"):
        check_sizes(root, path, findings)
        if path.suffix in SOURCES and path.parts[0] in (LIBRARY.parts[0], LAB.parts[0]):
            names, count = folders.get(path.parent, (set(), 0))
            folders[path.parent] = (names | {path.stem}, count + 1)  # a type's header and source count as one
    for folder, (names, count) in folders.items():
        check_folder(folder, len(names), count, findings)
    return findings.errors


ROOT = Path(__file__).resolve().parent.parent

if __name__ == "__main__":
    errors = check(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
    print(f"rooms: {errors} errors" if errors else "rooms: ok")
    sys.exit(1 if errors else 0)
