# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Runs inside lldb, as inside_gdb.py inside gdb: executes commands at stop_here(), or on a core file.

From the environment: DEBUG_FRONT, DEBUG_PROGRAM, DEBUG_COMMANDS, DEBUG_EXPECTED, DEBUG_OUT, and DEBUG_CORE: a
core file to open instead of running the program.
"""

import json
import os
import sys

import lldb

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from expected import Expected  # noqa: E402


def printed_by(debugger, command, process=None):
    result = lldb.SBCommandReturnObject()
    if process is None:
        debugger.GetCommandInterpreter().HandleCommand(command, result)
    else:  # while a script is imported, commands are about what was selected before
        frame = process.GetSelectedThread().GetSelectedFrame()
        debugger.GetCommandInterpreter().HandleCommand(command, lldb.SBExecutionContext(frame), result)
    return (result.GetOutput() or "") + (result.GetError() or "")


def __lldb_init_module(debugger, internal_dict):
    debugger.SetAsync(False)
    expected_path, core = os.environ["DEBUG_EXPECTED"], os.environ.get("DEBUG_CORE", "")
    results = {"front": printed_by(debugger, f"command script import {os.environ['DEBUG_FRONT']}")}
    target = debugger.CreateTarget(os.environ["DEBUG_PROGRAM"])
    results["early"] = printed_by(debugger, "tenure heap")
    if core:
        process = target.LoadCore(core)
    else:
        target.BreakpointCreateByName("stop_here")
        process = target.LaunchSimple([expected_path], None, os.path.dirname(expected_path))
    with open(os.environ["DEBUG_COMMANDS"], encoding="utf-8") as file:
        commands = json.load(file)
    expected = Expected(expected_path)
    addresses = [hex(each.address) for each in expected.blocks + expected.pools]
    for command in commands:
        results[command] = printed_by(debugger, command.format(*addresses), process)
    with open(os.environ["DEBUG_OUT"], "w", encoding="utf-8") as file:
        json.dump(results, file)
    if not core:
        process.Kill()
