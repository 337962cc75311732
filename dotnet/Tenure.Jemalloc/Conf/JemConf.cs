// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Text;

namespace Tenure;

/// <summary>Parses jemalloc configurations, and keeps the one in the environment at process start.</summary>
internal static class JemConf
{
    /// <summary>A setting, and the position of its value.</summary>
    internal readonly record struct Setting(string Key, string Value, int Position);

    /// <summary>Gets the environment variable that jemalloc reads at its start.</summary>
    internal static string Variable => JemallocSymbols.ArePackaged ? PackagedJemalloc.Variable : "MALLOC_CONF";

    /// <summary>The value of that variable at process start; unaffected by later changes to the environment.</summary>
    internal static readonly string Environment = AtStart(Variable);

    /// <summary>Parses a configuration; rejects what jemalloc would not accept.</summary>
    internal static List<Setting> Parse(string conf)
    {
        ArgumentNullException.ThrowIfNull(conf);
        var settings = new List<Setting>();
        int at = 0;
        while (at < conf.Length)
        {
            int begin = at;
            while (at < conf.Length && (char.IsAsciiLetterOrDigit(conf[at]) || conf[at] is '_' or '.'))
            {
                at++;
            }
            string key = conf[begin..at];
            if (key.Length == 0)
            {
                throw new JemConfException(conf, begin, $"expected a key instead of '{conf[begin]}'");
            }
            if (at == conf.Length || conf[at] != ':')
            {
                throw new JemConfException(conf, at, at == conf.Length
                    ? $"expected ':' and a value after the key \"{key}\""
                    : $"expected ':' after the key \"{key}\" instead of '{conf[at]}'");
            }
            int value = ++at, comma = conf.IndexOf(',', value);
            at = comma < 0 ? conf.Length : comma + 1;
            if (comma == conf.Length - 1 && comma >= 0)
            {
                throw new JemConfException(conf, comma, "expected another setting after ','");
            }
            settings.Add(new Setting(key, conf[value..(comma < 0 ? conf.Length : comma)], value));
        }
        return settings;
    }

    /// <summary>Parses a Boolean value as jemalloc does; null for any other word.</summary>
    internal static bool? Truth(string value) => value switch
    {
        "true" => true,
        "false" => false,
        _ => null,
    };

    /// <summary>Parses a number as jemalloc does: decimal, or hexadecimal with 0x; null for any other word.</summary>
    internal static long? Number(string value)
    {
        bool isHex = value.StartsWith("0x", StringComparison.OrdinalIgnoreCase);
        if (isHex && ulong.TryParse(value.AsSpan(2), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out ulong hex))
        {
            return unchecked((long)hex);
        }
        if (long.TryParse(value, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long number))
        {
            return number;
        }
        return ulong.TryParse(value, NumberStyles.None, CultureInfo.InvariantCulture, out ulong large) ? unchecked((long)large) : null;
    }

    private static string AtStart(string name)
    {
        try
        {
            foreach (string line in Encoding.UTF8.GetString(File.ReadAllBytes("/proc/self/environ")).Split('\0'))
            {
                if (line.StartsWith(name + "=", StringComparison.Ordinal))
                {
                    return line[(name.Length + 1)..];
                }
            }
            return "";
        }
        catch (IOException)
        {
        }
        catch (UnauthorizedAccessException)
        {
        }
        return System.Environment.GetEnvironmentVariable(name) ?? "";
    }
}
