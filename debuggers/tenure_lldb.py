# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""The commands and printers for lldb:    (lldb) command script import /usr/share/tenure/debuggers/tenure_lldb.py"""

import os
import shlex
import sys

import lldb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tenure_commands  # noqa: E402: beside this file
import tenure_printers  # noqa: E402


def read_memory(process, address, count):
    if count == 0:
        return b""
    error = lldb.SBError()
    found = process.ReadMemory(address, count, error)
    if error.Success() and found is not None and len(found) == count:
        return found
    # A core file lacks what never changed: constants, which the program's own file has.
    target = process.GetTarget()
    from_file = target.ReadMemory(target.ResolveLoadAddress(address), count, lldb.SBError())
    if from_file is None or len(from_file) != count:
        raise OSError(str(error))
    return from_file


class Target:
    """What tenure_commands needs, by lldb."""

    def __init__(self, target, frame):
        self._target, self._frame = target, frame
        self._process = target.GetProcess()

    def read(self, address, count):
        return read_memory(self._process, address, count)

    def symbols(self, name):
        found = []
        for context in self._target.FindSymbols(name):
            address = context.GetSymbol().GetStartAddress().GetLoadAddress(self._target)
            if address != lldb.LLDB_INVALID_ADDRESS:
                found.append(address)
        return found

    def data_ranges(self):
        for module in self._target.module_iter():
            for section in module.section_iter():
                for begin, end in self._data_in(section):
                    yield begin, end, str(module.GetFileSpec())

    def _data_in(self, section):
        begin = section.GetLoadAddress(self._target)
        if section.GetName() and section.GetName().startswith(".data") and begin != lldb.LLDB_INVALID_ADDRESS:
            yield begin, begin + section.GetByteSize()
        for index in range(section.GetNumSubSections()):
            yield from self._data_in(section.GetSubSectionAtIndex(index))

    def place_name(self, address):
        found = self._target.ResolveLoadAddress(address)
        name = found.GetFunction().GetDisplayName() or found.GetSymbol().GetDisplayName()
        if not name:
            return ""
        entry = found.GetLineEntry()
        where = f" ({entry.GetFileSpec().GetFilename()}:{entry.GetLine()})" if entry.IsValid() else ""
        return f"{name} in {found.GetModule().GetFileSpec().GetFilename()}{where}"

    def evaluate(self, expression):
        """A variable or its members if it is one: that also works where no code can be compiled or run."""
        found = self._frame.GetValueForVariablePath(expression) if self._frame.IsValid() else lldb.SBValue()
        if not found.IsValid() or found.GetError().Fail():
            found = self._target.FindFirstGlobalVariable(expression)
        if not found.IsValid() or found.GetError().Fail():
            found = self._frame.EvaluateExpression(expression) if self._frame.IsValid() else \
                self._target.EvaluateExpression(expression)
        if not found.IsValid() or found.GetError().Fail():
            raise ValueError(str(found.GetError()))
        return found

    def address(self, expression):
        """The address that an expression means. For lldb, &reference is the place of the reference itself."""
        if expression.startswith("&"):
            found = without_reference(self.evaluate(expression[1:])).GetLoadAddress()
            if found != lldb.LLDB_INVALID_ADDRESS:
                return found
        return address_in(self.evaluate(expression))

    def value(self, expression):
        found = self.evaluate(expression)
        kind = found.GetType().GetCanonicalType()
        if kind.IsPointerType() or kind.IsReferenceType():
            found = found.Dereference()
        address = found.GetLoadAddress()
        if address == lldb.LLDB_INVALID_ADDRESS:
            raise ValueError("it is no object in memory")
        return address, found.GetType().GetCanonicalType().GetUnqualifiedType().GetName()


def without_reference(value):
    value = value.GetNonSyntheticValue()
    return value.Dereference() if value.GetType().GetCanonicalType().IsReferenceType() else value


def address_in(value):
    """The address that an expression means: the value of a pointer or a number, the place of an array."""
    value = without_reference(value)
    kind = value.GetType().GetCanonicalType()
    error = lldb.SBError()
    if kind.GetTypeFlags() & (lldb.eTypeIsPointer | lldb.eTypeIsInteger | lldb.eTypeIsEnumeration):
        address = value.GetValueAsUnsigned(error, lldb.LLDB_INVALID_ADDRESS)
        if error.Success():
            return address
        raise ValueError(str(error))
    if kind.IsArrayType() and value.GetLoadAddress() != lldb.LLDB_INVALID_ADDRESS:
        return value.GetLoadAddress()
    raise ValueError(f"it has the type {kind.GetName()}, which is no address. For that of a variable, write & in front")


def tenure_command(debugger, command, exe_ctx, result, internal_dict):
    """The memory of Tenure's heaps and pools: tenure heap, tenure block ADDRESS, tenure pool VARIABLE."""
    target, frame = exe_ctx.GetTarget(), exe_ctx.GetFrame()
    if not target.IsValid() or not target.GetProcess().IsValid():
        result.SetError("There is no process: start the program, or open a core file, first.")
        return
    try:
        words = shlex.split(command)
        if len(words) == 2 and words[0] == "block" and not words[1][:1].isdigit():
            try:
                words[1] = str(Target(target, frame).address(words[1]))
            except ValueError as error:
                raise tenure_commands.HeapError(f"'{words[1]}' cannot be evaluated: {error}") from None
        result.AppendMessage(tenure_commands.run(Target(target, frame), words))
    except (tenure_commands.HeapError, ValueError) as error:
        result.SetError(str(error))


class Value:
    """A value of lldb as tenure_printers wants it."""

    def __init__(self, value):
        self.raw = value.GetNonSyntheticValue()

    def member(self, name):
        found = self.raw.GetChildMemberWithName(name)
        if not found.IsValid():
            raise KeyError(name)
        return Value(found)

    def deref(self):
        return Value(self.raw.Dereference())

    def number(self):
        return self.raw.GetValueAsUnsigned()

    def string(self, count):
        return self.read(self.number(), count).decode("utf-8", "replace") if count else ""

    def element_bytes(self):
        return self._element().GetByteSize()

    def elements(self, address, count, stride):
        for index in range(count):
            yield self.raw.CreateValueFromAddress("element", address + index * stride, self._element())

    def address(self):
        return self.raw.GetLoadAddress()

    def read(self, address, count):
        process = self.raw.GetProcess()
        return tenure_printers.reader(lambda at, size: read_memory(process, at, size))(address, count)

    def _element(self):
        return self.raw.GetType().GetCanonicalType().GetUnqualifiedType().GetTemplateArgumentType(0)


def summary(value, internal_dict):
    kind = value.GetType().GetCanonicalType().GetUnqualifiedType().GetName()
    found = tenure_printers.find(kind or "")
    return tenure_printers.text(found[0], Value(value)) if found else ""


class Elements:
    """The elements of a container."""

    MOST = 256

    def __init__(self, value, internal_dict):
        self._value = value
        self._found = []

    def update(self):
        kind = self._value.GetType().GetCanonicalType().GetUnqualifiedType().GetName()
        found = tenure_printers.find(kind or "")
        self._found = []
        try:
            for each in found[1](Value(self._value)) if found and found[1] else ():
                self._found.append(each)
                if len(self._found) == self.MOST:
                    break
        except Exception:  # an object that is not constructed yet has no elements
            pass
        return False

    def num_children(self):
        return len(self._found)

    def has_children(self):
        return True

    def get_child_index(self, name):
        try:
            return int(name.strip("[]"))
        except ValueError:
            return -1

    def get_child_at_index(self, index):
        if not 0 <= index < len(self._found):
            return None
        each = self._found[index]
        return each.CreateValueFromAddress(f"[{index}]", each.GetLoadAddress(), each.GetType())


def __lldb_init_module(debugger, internal_dict):
    module = __name__
    debugger.HandleCommand(f"command script add -f {module}.tenure_command tenure")
    for name, (_, elements) in tenure_printers.PRINTERS.items():
        kind = rf"^tenure::(v[0-9]+_[0-9]+_checks[0-9]::)?{name}(<.*>)?$"
        expand = "-e " if elements else ""
        debugger.HandleCommand(f'type summary add {expand}-w tenure -F {module}.summary -x "{kind}"')
        if elements:
            debugger.HandleCommand(f'type synthetic add -w tenure -l {module}.Elements -x "{kind}"')
    debugger.HandleCommand("type category enable tenure")
