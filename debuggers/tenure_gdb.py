# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""The commands and printers for gdb:    (gdb) source /usr/share/tenure/debuggers/tenure_gdb.py"""

import os
import re
import sys

import gdb

# Not __file__: where one script sources another, gdb leaves that of the outer one.
sys.path.insert(0, os.path.dirname(os.path.abspath(sys._getframe().f_code.co_filename)))
import tenure_commands  # noqa: E402: beside this file
import tenure_printers  # noqa: E402

ADDRESS = re.compile(r"^(0x[0-9a-f]+)\s+(.*)$")
DATA = re.compile(r"^\s*(0x[0-9a-f]+) - (0x[0-9a-f]+) is \.data\S*(?: in (.*))?$")


class Target:
    """What tenure_commands needs, by gdb."""

    @staticmethod
    def read(address, count):
        return gdb.selected_inferior().read_memory(address, count) if count else b""

    @staticmethod
    def symbols(name):
        try:
            listed = gdb.execute(f"info variables ^{name}$", to_string=True)
        except gdb.error:
            return []
        # With debug information the list has no addresses, but then the name can be evaluated.
        found = [int(match[1], 16) for match in map(ADDRESS.match, listed.splitlines()) if match and match[2] == name]
        try:
            found.append(int(gdb.parse_and_eval(f"(unsigned long) &'{name}'")))
        except gdb.error:
            pass
        return found

    @staticmethod
    def data_ranges():
        try:
            listed = gdb.execute("info files", to_string=True)
        except gdb.error:
            return
        for match in map(DATA.match, listed.splitlines()):
            if match:
                yield int(match[1], 16), int(match[2], 16), match[3] or ""

    @staticmethod
    def place_name(address):
        try:
            text = gdb.execute(f"info symbol {address:#x}", to_string=True).strip()
        except gdb.error:
            return ""
        if text.startswith("No symbol"):
            return ""
        line = gdb.find_pc_line(address)
        where = f" ({os.path.basename(line.symtab.filename)}:{line.line})" if line.symtab else ""
        name = re.sub(r" \+ \d+", "", text)
        return re.sub(r" in section \S+( of (?P<file>.*))?$", lambda found: f" in {os.path.basename(found['file'])}"
                      if found["file"] else "", name) + where

    @staticmethod
    def value(expression):
        found = gdb.parse_and_eval(expression)
        kind = found.type.strip_typedefs()
        if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            found = found.referenced_value()
        elif kind.code == gdb.TYPE_CODE_PTR:
            found = found.dereference()
        if found.address is None:
            raise gdb.error("it is no object in memory")
        return int(found.address), str(found.type.strip_typedefs().unqualified())


def address_in(value):
    """The address that an expression means: the value of a pointer or a number, the place of an array."""
    kind = value.type.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        value = value.referenced_value()
        kind = value.type.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_INT, gdb.TYPE_CODE_ENUM):
        return int(value.cast(gdb.lookup_type("unsigned long")))
    if kind.code == gdb.TYPE_CODE_ARRAY and value.address is not None:
        return int(value.address)
    raise gdb.error(f"it has the type {kind}, which is no address. For that of a variable, write & in front")


class TenureCommand(gdb.Command):
    """The memory of Tenure's heaps and pools: tenure heap, tenure block ADDRESS, tenure pool VARIABLE."""

    def __init__(self):
        super().__init__("tenure", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        if gdb.selected_thread() is None:
            raise gdb.GdbError("There is no process: start the program, or open a core file, first.")
        words = gdb.string_to_argv(argument)
        if len(words) == 2 and words[0] == "block" and not words[1][:1].isdigit():
            try:  # an expression
                words[1] = str(address_in(gdb.parse_and_eval(words[1])))
            except gdb.error as error:
                raise gdb.GdbError(f"'{words[1]}' cannot be evaluated: {error}") from None
        try:
            print(tenure_commands.run(Target, words))
        except tenure_commands.HeapError as error:
            raise gdb.GdbError(str(error)) from None

    def complete(self, text, word):
        return [each for each in ("heap", "block", "pool") if each.startswith(text)]


class Value:
    """A value of gdb as tenure_printers wants it."""

    def __init__(self, value):
        self.raw = value

    def member(self, name):
        for field in self.raw.type.strip_typedefs().fields():
            if field.name == name:
                return Value(self.raw[field])
            if field.is_base_class and not field.name.startswith("std::"):
                try:
                    return Value(self.raw[field]).member(name)
                except KeyError:
                    pass
        raise KeyError(name)

    def deref(self):
        return Value(self.raw.dereference())

    def number(self):
        return int(self.raw)

    def string(self, count):
        return self.raw.string(length=count)

    def element_bytes(self):
        return self.raw.type.strip_typedefs().unqualified().template_argument(0).sizeof

    def elements(self, address, count, stride):
        """Objects of the first template argument, each `stride` bytes behind the last."""
        kind = self.raw.type.strip_typedefs().unqualified().template_argument(0)
        for index in range(count):
            yield gdb.Value(address + index * stride).cast(kind.pointer()).dereference()

    def address(self):
        return int(self.raw.address)

    @staticmethod
    def read(address, count):
        return tenure_printers.reader(Target.read)(address, count)


class Printer:
    def __init__(self, describe, children, value):
        self._describe, self._children, self._value = describe, children, value

    def to_string(self):
        return tenure_printers.text(self._describe, self._value)


class ListPrinter(Printer):
    def children(self):
        index = 0
        try:
            for index, each in enumerate(self._children(self._value), 1):
                yield f"[{index - 1}]", each
        except Exception as error:  # as in tenure_printers.text()
            yield f"[{index}]", f"unreadable ({type(error).__name__}: {error})"

    def display_hint(self):
        return "array"


def printer_of(value):
    kind = value.type.strip_typedefs().unqualified()
    if kind.code not in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        return None
    found = tenure_printers.find(kind.name or "")
    if found is None:
        return None
    describe, children = found
    return (ListPrinter if children else Printer)(describe, children, Value(value))


printer_of.name = "tenure"
printer_of.enabled = True
gdb.pretty_printers[:] = [each for each in gdb.pretty_printers if getattr(each, "name", "") != "tenure"]
gdb.pretty_printers.insert(0, printer_of)
TenureCommand()
