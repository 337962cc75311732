# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Runs inside gdb: executes commands at stop_here(), or on a core file, and writes what they print.

From the environment: SESSION_FRONT (tenure_gdb.py), SESSION_COMMANDS (a JSON file: a list of commands; {N} stands for the
address of the N-th block or pool that the program has told), SESSION_EXPECTED (the file the program writes),
SESSION_CORE (where to write a core file, if anywhere), SESSION_OUT (a JSON file: what each command printed).
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
    gdb.execute(f"source {os.environ['SESSION_FRONT']}")
    early = printed_by("tenure heap") if os.environ.get("SESSION_CORE") else ""
    if os.environ.get("SESSION_CORE"):
        gdb.execute("break stop_here")
        gdb.execute("run")
    with open(os.environ["SESSION_COMMANDS"], encoding="utf-8") as file:
        commands = json.load(file)
    expected = Expected(os.environ["SESSION_EXPECTED"])
    addresses = [hex(each.address) for each in expected.blocks + expected.pools]
    results = {"early": early}
    for command in commands:
        results[command] = printed_by(command.format(*addresses))
    if os.environ.get("SESSION_CORE"):
        gdb.execute(f"generate-core-file {os.environ['SESSION_CORE']}")
    with open(os.environ["SESSION_OUT"], "w", encoding="utf-8") as file:
        json.dump(results, file)
    if os.environ.get("SESSION_CORE"):
        gdb.execute("kill")


try:
    main()
finally:
    gdb.execute("quit")
