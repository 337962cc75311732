# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Runs inside gdb: executes commands at stop_here(), or on a core file, and writes what they print.

From the environment: DEBUG_FRONT (tenure_gdb.py), DEBUG_COMMANDS (a JSON file: a list of commands; {N} stands for the
address of the N-th block or pool that the program has told), DEBUG_EXPECTED (the file the program writes),
DEBUG_CORE (where to write a core file, if anywhere), DEBUG_OUT (a JSON file: what each command printed).
"""

import json
import os
import sys

import gdb

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from expected import Expected  # noqa: E402


def printed_by(command):
    try:
        return gdb.execute(command, to_string=True)
    except gdb.error as error:
        return f"error: {error}"


def main():
    gdb.execute("set pagination off")
    gdb.execute("set confirm off")
    gdb.execute(f"source {os.environ['DEBUG_FRONT']}")
    early = printed_by("tenure heap") if os.environ.get("DEBUG_CORE") else ""
    if os.environ.get("DEBUG_CORE"):
        gdb.execute("break stop_here")
        gdb.execute("run")
    with open(os.environ["DEBUG_COMMANDS"], encoding="utf-8") as file:
        commands = json.load(file)
    expected = Expected(os.environ["DEBUG_EXPECTED"])
    addresses = [hex(each.address) for each in expected.blocks + expected.pools]
    results = {"early": early}
    for command in commands:
        results[command] = printed_by(command.format(*addresses))
    if os.environ.get("DEBUG_CORE"):
        gdb.execute(f"generate-core-file {os.environ['DEBUG_CORE']}")
    with open(os.environ["DEBUG_OUT"], "w", encoding="utf-8") as file:
        json.dump(results, file)
    if os.environ.get("DEBUG_CORE"):
        gdb.execute("kill")


try:
    main()
finally:
    gdb.execute("quit")
