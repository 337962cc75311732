// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Collections.Generic;
using System.CommandLine;
using System.Linq;

namespace Tenure.Bench;

/// <summary>The type options: -b -h -i -l -f -d -u -s --udt.</summary>
internal sealed class TypeOptions
{
    private readonly Verb _verb;
    private readonly Option<bool> _unsigned = VerbCommand.Flag("--unsigned", "Unsigned integers.", "-u");
    private readonly Option<bool> _int8 = VerbCommand.Flag("--int8", "SByte, with -u Byte.", "-b");
    private readonly Option<bool> _int16 = VerbCommand.Flag("--int16", "Int16, with -u UInt16.", "-h");
    private readonly Option<bool> _int32 = VerbCommand.Flag("--int32", "Int32, with -u UInt32. The default.", "-i");
    private readonly Option<bool> _int64 = VerbCommand.Flag("--int64", "Int64, with -u UInt64.", "-l");
    private readonly Option<bool> _float = VerbCommand.Flag("--float", "Single.", "-f");
    private readonly Option<bool> _double = VerbCommand.Flag("--double", "Double.", "-d");
    private readonly Option<bool> _string = VerbCommand.Flag("--string", "Strings: String compared with FixedUtf8String.", "-s");
    private readonly Option<bool> _udt = VerbCommand.Flag("--udt", "A structure of several fields, 48 bytes.");
    private readonly Option<bool>[] _types;

    internal TypeOptions(Verb verb)
    {
        _verb = verb;
        _types = [_int8, _int16, _int32, _int64, _float, _double, _string, _udt];
    }

    internal void AddTo(Command command)
    {
        foreach (Option<bool> option in _types.Append(_unsigned))
        {
            command.Add(option);
        }
    }

    internal ElementType Chosen(ParseResult parsed)
    {
        bool isUnsigned = parsed.GetValue(_unsigned);
        return parsed.GetValue(_int8) ? ElementType.Integer(8, isUnsigned)
            : parsed.GetValue(_int16) ? ElementType.Integer(16, isUnsigned)
            : parsed.GetValue(_int64) ? ElementType.Integer(64, isUnsigned)
            : parsed.GetValue(_float) ? ElementType.Of<float>("-f")
            : parsed.GetValue(_double) ? ElementType.Of<double>("-d")
            : parsed.GetValue(_udt) ? ElementType.UserDefined
            : parsed.GetValue(_string) ? ElementType.Text
            : _verb == Verb.Vector && !parsed.GetValue(_int32) && !isUnsigned ? ElementType.Of<float>("-f")
            : ElementType.Integer(32, isUnsigned);
    }

    /// <summary>Gets the reason why these types cannot be measured; null if they can.</summary>
    internal string? Refusal(ParseResult parsed, Operations operations)
    {
        List<string> given = [.. _types.Where(parsed.GetValue).Select(option => option.Name)];
        if (given.Count > 1)
        {
            return $"{string.Join(" and ", given)} are different types: choose one";
        }
        ElementType element = Chosen(parsed);
        bool isInteger = element.IsNumber && element.Type != typeof(float) && element.Type != typeof(double);
        if (parsed.GetValue(_unsigned) && given.Count == 1 && !isInteger)
        {
            return $"-u is for integers, and {element.Name} is not an integer";
        }
        const Operations OnNumbers = Operations.Multiply | Operations.Mandelbrot | Operations.Test;
        if (!element.IsNumber && ((operations & OnNumbers) != 0 || _verb == Verb.Vector))
        {
            return $"{element.Name} does not support arithmetic: use --create or --fill of another verb";
        }
        if (operations == Operations.Mandelbrot && element.Type != typeof(float) && element.Type != typeof(double))
        {
            return "--mandel requires -f or -d";
        }
        if (element == ElementType.Text && (operations != Operations.Create || _verb is not (Verb.Safe or Verb.Buffer)))
        {
            return "-s is for `buffer --create` and `safe --create`: strings are created, not filled with a value";
        }
        return null;
    }
}
