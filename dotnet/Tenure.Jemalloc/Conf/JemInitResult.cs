// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Linq;

namespace Tenure;

/// <summary>The result of applying a configuration, setting by setting.</summary>
public sealed class JemInitResult
{
    private readonly List<string> _applied = [], _inEffect = [], _unknown = [];
    private readonly List<JemRefusal> _refused = [];

    internal JemInitResult()
    {
    }

    /// <summary>Gets the keys that were set.</summary>
    public IReadOnlyList<string> Applied => _applied;

    /// <summary>Gets the keys that can no longer be set and already have the requested value.</summary>
    public IReadOnlyList<string> InEffect => _inEffect;

    /// <summary>Gets the keys that can no longer be set or whose value was rejected, each with its reason.</summary>
    public IReadOnlyList<JemRefusal> Refused => _refused;

    /// <summary>Gets the unknown keys.</summary>
    public IReadOnlyList<string> Unknown => _unknown;

    /// <summary>Gets a value indicating whether every setting has the requested value.</summary>
    public bool Succeeded => _refused.Count == 0 && _unknown.Count == 0;

    /// <summary>Gets the environment setting that applies the rejected settings at process start:
    /// <c>MALLOC_CONF=narenas:4,retain:false</c>, or <c>TENURE_JE_MALLOC_CONF=…</c> for the jemalloc in this package. It
    /// begins with the settings of this process's own environment. Empty if no setting was rejected.</summary>
    public string MallocConf { get; private set; } = "";

    /// <summary>Returns the rejected and unknown settings, with the environment line and command that apply them; one
    /// sentence if there are none.</summary>
    public override string ToString()
    {
        if (Succeeded)
        {
            return "All settings are in effect.";
        }
        var lines = _refused.Select(each => each.ToString()).Concat(_unknown.Select(each => each + " is not a jemalloc key" + JemallocKeys.DidYouMean(each) + "."));
        string start = MallocConf.Length == 0 ? ""
            : JemallocSymbols.ArePackaged ? " Pass them to Init before any other call of Jem, or set them at process start: " + MallocConf
            : " Set them at process start: " + MallocConf + " " + JemallocUnavailableException.Command;
        return string.Join(' ', lines) + start;
    }

    internal void Apply(string key) => _applied.Add(key);

    internal void Find(string key) => _inEffect.Add(key);

    internal void Miss(string key) => _unknown.Add(key);

    internal void Refuse(JemRefusal refusal) => _refused.Add(refusal);

    /// <summary>Completes the result; called once. Tenure's own options are not part of it.</summary>
    internal JemInitResult Finish()
    {
        List<string> wanted = [.. _refused
            .Where(each => !each.Key.StartsWith(TenureCtl.Prefix, StringComparison.Ordinal))
            .Select(each => each.Key + ":" + each.Value)];
        if (wanted.Count != 0)
        {
            IEnumerable<string> before = JemConf.Environment.Split(',', StringSplitOptions.RemoveEmptyEntries)
                .Where(each => !_refused.Exists(refused => each.StartsWith(refused.Key + ":", StringComparison.Ordinal)));
            if (_refused.Exists(each => JemallocKeys.NeedsProfiling(each.Key)) && !wanted.Contains("prof:true"))
            {
                before = before.Where(each => !each.StartsWith("prof:", StringComparison.Ordinal)).Append("prof:true");
            }
            string all = string.Join(',', before.Concat(wanted));
            // Quoted for a shell where necessary.
            bool plain = all.All(each => char.IsAsciiLetterOrDigit(each) || "_:,.-+/".Contains(each, StringComparison.Ordinal));
            MallocConf = JemConf.Variable + "=" + (plain ? all : "'" + all.Replace("'", "'\\''", StringComparison.Ordinal) + "'");
        }
        return this;
    }
}

/// <summary>A setting that was not applied.</summary>
/// <param name="Key">The key.</param>
/// <param name="Value">The requested value.</param>
/// <param name="Reason">The reason, as one sentence.</param>
public sealed record JemRefusal(string Key, string Value, string Reason)
{
    /// <summary>Returns the key, the value and the reason.</summary>
    /// <returns>The text.</returns>
    public override string ToString() => $"{Key}:{Value} was rejected: {Reason}";
}

/// <summary>The exception that is thrown when some settings of a configuration could not be applied. The others were
/// applied: see <see cref="Result"/>.</summary>
public sealed class JemInitException : InvalidOperationException
{
    /// <summary>Initializes a new instance of the class.</summary>
    public JemInitException()
    {
    }

    /// <summary>Initializes a new instance of the class with a message.</summary>
    /// <param name="message">The message.</param>
    public JemInitException(string? message)
        : base(message)
    {
    }

    /// <summary>Initializes a new instance of the class with a message and an inner exception.</summary>
    /// <param name="message">The message.</param>
    /// <param name="innerException">The exception that is the cause.</param>
    public JemInitException(string? message, Exception? innerException)
        : base(message, innerException)
    {
    }

    internal JemInitException(JemInitResult result)
        : base(result.ToString()) => Result = result;

    /// <summary>Gets the applied, rejected and unknown settings.</summary>
    public JemInitResult? Result { get; }
}
