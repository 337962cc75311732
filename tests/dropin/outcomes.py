# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""How the scripts of this folder say that a program failed or is not here."""

import shutil


class Failed(Exception):
    pass


class LeftOut(Exception):
    pass


def tool(*names):
    """The path of the first of these programs that is here."""
    for name in names:
        found = shutil.which(name, path="/usr/local/bin:/usr/bin:/bin") or shutil.which(name)
        if found:
            return found
    raise LeftOut(f"{names[0]} is not installed")


def check(holds, what):
    if not holds:
        raise Failed(what)
