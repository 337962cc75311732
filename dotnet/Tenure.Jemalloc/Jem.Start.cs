// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Linq;

namespace Tenure;

// The start of the package's jemalloc: the moment when it accepts every setting.
public static unsafe partial class Jem
{
    private const string LeakError = "prof_leak_error";

    /// <summary>Starts the package's jemalloc with these settings. Returns its messages about them; null if jemalloc is
    /// another one, or has started.</summary>
    private static List<string>? Start(string conf, List<JemConf.Setting> settings)
    {
        if (!JemallocSymbols.ArePackaged || PackagedJemalloc.HasStarted)
        {
            return null;
        }
        foreach (JemConf.Setting setting in settings)
        {
            IfNoWordFor(conf, setting);
        }
        List<string> refused = [];
        IEnumerable<JemConf.Setting> passed = settings.Where(each => JemallocKeys.IsOption(each.Key));
        if (settings.Exists(each => each is { Key: LeakError, Value: "true" })
            && !settings.Exists(each => each is { Key: "prof_final", Value: "true" }))
        {
            // jemalloc would not start at all.
            passed = passed.Where(each => each.Key != LeakError);
            refused.Add("It requires prof_final:true: " + LeakError + ":true");
        }
        List<string>? messages = PackagedJemalloc.Start(string.Join(',', passed.Select(each => each.Key + ":" + each.Value)));
        if (messages is null)
        {
            return null;
        }
        PackagedJemalloc.Write(messages.Where(line => !settings.Exists(each => IsAbout(line, each))));
        return [.. refused, .. messages];
    }

    /// <summary>A value that no jemalloc accepts for this key is a format error; it is found before jemalloc
    /// starts.</summary>
    private static void IfNoWordFor(string conf, JemConf.Setting setting)
    {
        string? wanted = JemallocKeys.KindOf(setting.Key) switch
        {
            JemallocKind.Flag when JemConf.Truth(setting.Value) is null => "expected \"true\" or \"false\"",
            JemallocKind.Number when JemConf.Number(setting.Value) is null => "expected a number",
            _ => null,
        };
        if (wanted is not null)
        {
            throw new JemConfException(conf, setting.Position, $"{wanted} for the key \"{setting.Key}\"");
        }
    }

    /// <summary>Decides from jemalloc's messages and from the value in effect whether a setting was applied at the
    /// start.</summary>
    private static void Judge(JemConf.Setting setting, List<string> messages, JemInitResult result)
    {
        string option = "opt." + setting.Key;
        if (!JemallocKeys.IsOption(setting.Key))
        {
            result.Miss(setting.Key);
        }
        else if (messages.Find(line => IsAbout(line, setting)) is string message)
        {
            result.Refuse(new JemRefusal(setting.Key, setting.Value, message.Contains("Invalid conf pair", StringComparison.Ordinal)
                ? "The jemalloc of this package was built without it."
                : message.Replace("<jemalloc>: ", "", StringComparison.Ordinal)[..^(Pair(setting).Length + 2)] + "."));
        }
        else if (JemallocKeys.IsReadAsSet(setting.Key, setting.Value) && MallCtlCalls.IsThere(option) && !IsNow(option, setting.Value))
        {
            result.Refuse(new JemRefusal(setting.Key, setting.Value, $"jemalloc uses the value {Now(option)}."
                + (JemConf.Environment.Contains(setting.Key + ":", StringComparison.Ordinal)
                    ? $" The environment variable {PackagedJemalloc.Variable} sets this key." : "")));
        }
        else
        {
            result.Apply(setting.Key);
        }
    }

    /// <summary>jemalloc ends a message about a setting with the setting.</summary>
    private static bool IsAbout(string line, JemConf.Setting setting) =>
        line.EndsWith(": " + Pair(setting), StringComparison.Ordinal) && !line.Contains("Set conf value", StringComparison.Ordinal);

    private static string Pair(JemConf.Setting setting) => setting.Key + ":" + setting.Value;

    private static string Now(string option) => MallCtlCalls.SizeOf(option) switch
    {
        1 => GetMallCtlBool(option) ? "true" : "false",
        4 => $"{GetMallCtlUInt32(option)}",
        8 when JemallocKeys.IsText(option) => GetMallCtlStr(option),
        _ => $"{GetMallCtlInt64(option)}",
    };
}
