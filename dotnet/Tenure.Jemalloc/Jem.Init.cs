// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Globalization;

namespace Tenure;

// Settings. A running jemalloc accepts only some of them; the others are reported.
public static unsafe partial class Jem
{
    /// <summary>Applies a configuration. Throws if a setting cannot be applied; the message names it.</summary>
    /// <remarks>The jemalloc in this package accepts every option if this call comes before all others of this class
    /// that need it; <see cref="Initialized"/> tells. A preloaded jemalloc has started with the process, and accepts
    /// only what can be changed later.</remarks>
    /// <param name="conf">The configuration in MALLOC_CONF's format: <c>narenas:4,background_thread:true</c>. It may
    /// include Tenure's own options: <c>tenure.heap_purge_delay_ms:500</c>.</param>
    /// <returns>The settings that were applied, and those that already had the requested value.</returns>
    /// <exception cref="JemConfException">The configuration is malformed; the message gives the position. No setting
    /// was applied.</exception>
    /// <exception cref="JemInitException">Some keys are unknown, can no longer be set, or have a value that jemalloc
    /// rejects; the message names them and the environment variable that sets them at process start. The others were
    /// applied.</exception>
    public static JemInitResult Init(string conf)
    {
        JemInitResult result = TryInit(conf);
        return result.Succeeded ? result : throw new JemInitException(result);
    }

    /// <summary>Applies a configuration as <see cref="Init"/> does, but returns rejected settings instead of
    /// throwing.</summary>
    /// <param name="conf">The configuration; see <see cref="Init"/>.</param>
    /// <returns>The result for each setting.</returns>
    /// <exception cref="JemConfException">The configuration is malformed; the message gives the position. No setting
    /// was applied.</exception>
    public static JemInitResult TryInit(string conf)
    {
        List<JemConf.Setting> settings = JemConf.Parse(conf);
        List<string>? messages = Start(conf, settings);
        if (messages is null)
        {
            foreach (JemConf.Setting setting in settings)
            {
                UnlessValue(conf, setting);
            }
        }
        var result = new JemInitResult();
        foreach (JemConf.Setting setting in settings)
        {
            Apply(setting, messages, result);
        }
        return result.Finish();
    }

    /// <summary>Gets or sets the configuration of jemalloc: the one that the first <see cref="Init"/> gave it, or
    /// MALLOC_CONF at process start if it was preloaded. Setting it calls <see cref="Init"/>.</summary>
    /// <exception cref="JemConfException">The value is malformed.</exception>
    /// <exception cref="JemInitException">The value contains a setting that can no longer be applied.</exception>
    public static string MallocConf
    {
        get => JemallocSymbols.ArePackaged ? PackagedJemalloc.Conf ?? "" : JemConf.Environment;
        set => Init(value);
    }

    /// <summary>An invalid value for a key is a format error, like a missing colon.</summary>
    private static void UnlessValue(string conf, JemConf.Setting setting)
    {
        if (Backend != JemBackend.Jemalloc || JemallocKeys.SettersOf(setting.Key) is not [string setter, ..])
        {
            return;
        }
        string? wanted = MallCtlCalls.SizeOf(setter) switch
        {
            1 when JemConf.Truth(setting.Value) is null => "expected \"true\" or \"false\"",
            4 or 8 when JemConf.Number(setting.Value) is null => "expected a number",
            _ => null,
        };
        if (wanted is not null)
        {
            throw new JemConfException(conf, setting.Position, $"{wanted} for the key \"{setting.Key}\"");
        }
    }

    /// <summary>Applies a setting; or, with the messages of a start, reports what became of it.</summary>
    private static void Apply(JemConf.Setting setting, List<string>? messages, JemInitResult result)
    {
        try
        {
            if (setting.Key.StartsWith(TenureCtl.Prefix, StringComparison.Ordinal))
            {
                ApplyOption(setting, result);
            }
            else if (Backend == JemBackend.Tenure)
            {
                ApplyNothing(setting, result);
            }
            else if (messages is not null)
            {
                Judge(setting, messages, result);
            }
            else if (JemallocKeys.SettersOf(setting.Key) is [_, ..] setters)
            {
                foreach (string setter in setters)
                {
                    SetEach(setter, setting.Value);
                }
                result.Apply(setting.Key);
            }
            else
            {
                Compare(setting, result);
            }
        }
        catch (MallCtlException exception)
        {
            result.Refuse(new JemRefusal(setting.Key, setting.Value, exception.Message));
        }
    }

    private static void ApplyOption(JemConf.Setting setting, JemInitResult result)
    {
        if (!TenureCtl.IsKnown(setting.Key))
        {
            result.Miss(setting.Key);
            return;
        }
        SetMallCtlStr(setting.Key, setting.Value);
        result.Apply(setting.Key);
    }

    private static void ApplyNothing(JemConf.Setting setting, JemInitResult result)
    {
        if (JemallocKeys.IsOption(setting.Key))
        {
            result.Refuse(new JemRefusal(
                setting.Key, setting.Value, JemallocSymbols.WhyNot() + JemallocKeys.Instead(setting.Key)));
        }
        else
        {
            result.Miss(setting.Key);
        }
    }

    /// <summary>Handles a setting that is too late to apply: it is in effect if its value is already the requested
    /// one.</summary>
    private static void Compare(JemConf.Setting setting, JemInitResult result)
    {
        string key = "opt." + setting.Key;
        bool isThere = MallCtlCalls.IsThere(key);
        if (isThere && IsNow(key, setting.Value))
        {
            result.Find(setting.Key);
        }
        else if (isThere || JemallocKeys.IsOption(setting.Key))
        {
            result.Refuse(new JemRefusal(setting.Key, setting.Value, JemallocSymbols.ArePackaged
                ? "jemalloc has already started, with an earlier call of Jem, and accepts this setting only at the start."
                : "jemalloc has already started and accepts this setting only at the start."));
        }
        else
        {
            result.Miss(setting.Key);
        }
    }

    private static bool IsNow(string key, string value) => MallCtlCalls.SizeOf(key) switch
    {
        1 => JemConf.Truth(value) == GetMallCtlBool(key),
        4 => JemConf.Number(value) == GetMallCtlUInt32(key),
        8 when JemallocKeys.IsText(key) => GetMallCtlStr(key) == value,
        8 => JemConf.Number(value) == GetMallCtlInt64(key),
        _ => false,
    };

    /// <summary>Sets a key, or the same key of every arena, because existing arenas keep their own values.</summary>
    private static void SetEach(string key, string value)
    {
        if (!key.Contains('#', StringComparison.Ordinal))
        {
            SetWord(key, value);
            return;
        }
        uint arenas = GetMallCtlUInt32("arenas.narenas");
        for (uint arena = 0; arena < arenas; arena++)
        {
            string one = key.Replace("#", arena.ToString(CultureInfo.InvariantCulture), StringComparison.Ordinal);
            // An arena that was never used rejects the setting; it starts with the default.
            if (GetMallCtlBool(one[..one.LastIndexOf('.')] + ".initialized"))
            {
                SetWord(one, value);
            }
        }
    }

    private static void SetWord(string key, string value)
    {
        switch (MallCtlCalls.SizeOf(key))
        {
            case 1:
                SetMallCtl(key, JemConf.Truth(value) ?? false);
                break;
            case 4:
                SetMallCtl(key, unchecked((uint)(JemConf.Number(value) ?? 0)));
                break;
            case 8:
                SetMallCtl(key, JemConf.Number(value) ?? 0);
                break;
            default:
                MallCtlCalls.ThrowRefused(key, MallCtlCalls.Fault, 0, writes: true);
                break;
        }
    }
}
