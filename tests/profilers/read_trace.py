#!/usr/bin/env python3
# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Runs examples/hooks_trace.cpp and reads the trace that it writes: calls are balanced on each thread, in order of time,
with their parts, the frames and the heap's bytes.

usage: read_trace.py PROGRAM
"""

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path


def require(holds, text):
    if not holds:
        sys.exit(f"the trace is wrong: {text}")


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        subprocess.run([program, path], check=True)
        events = json.loads(path.read_text())["traceEvents"]
    open_calls = defaultdict(list)
    last = defaultdict(float)
    for event in events:
        require(event["ts"] >= last[event["tid"]], f"time runs backwards on thread {event['tid']}: {event}")
        last[event["tid"]] = event["ts"]
        if event["ph"] == "B":
            require(event["args"]["bytes"] >= 0, f"no size: {event}")
            open_calls[event["tid"]].append(event["name"])
        elif event["ph"] == "E":
            require(open_calls[event["tid"]], f"an end without a begin: {event}")
            begun = open_calls[event["tid"]].pop()
            require(begun == event["name"], f"{begun} ends as {event['name']}")
    require(not any(open_calls.values()), "calls have no end")
    named = {event["name"] for event in events}
    for name in ("allocation of Temp", "allocation of the process heap"):
        require(name in named, f"no {name} among {sorted(named)}")
    require(sum(event["name"] == "frame" for event in events) == 10, "there are 10 frames")
    heap = [event["args"]["bytes"] for event in events if event["ph"] == "C"]
    require(len(heap) == 10, "each frame has the heap's bytes")
    require(min(heap[3:7]) - max(heap[7:]) >= 8 << 20, f"8 MiB are live in frames 3 to 6: {heap}")
    require(len(last) == 11, f"the main thread and a worker per frame: {len(last)} threads")


main(sys.argv[1])
