# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Reads what debugged_program and preloaded_program say of themselves."""

from collections import namedtuple

Block = namedtuple("Block", "address heap bytes state")
Pool = namedtuple("Pool", "address kind block_bytes in_use")
STATES = {"in_use": "in use", "resting": "in quarantine", "cached": "cached", "free": "free"}


class Expected:
    def __init__(self, path):
        self.layouts, self.blocks, self.pools, self.sizes, self.totals = {}, [], [], {}, {}
        self.variable = None  # the block behind debugged_program's variable `monster`
        self.is_done = False
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                self._add(line.split())

    def _add(self, words):
        if words[0] == "layout":
            self.layouts[words[2]] = int(words[1], 16)
        elif words[0] == "block":
            self.blocks.append(Block(int(words[1], 16), words[2], int(words[3]), STATES[words[4]]))
        elif words[0] == "variable":
            self.variable = Block(int(words[1], 16), words[2], int(words[3]), STATES[words[4]])
        elif words[0] == "pool":
            self.pools.append(Pool(int(words[1], 16), words[2], int(words[3]), int(words[4])))
        elif words[0] == "size":
            self.sizes[int(words[1])] = (int(words[3]), int(words[4]))
        elif words[0] == "total":
            self.totals[words[1]] = (int(words[2]), int(words[3]))
        elif words[0] == "done":
            self.is_done = True
