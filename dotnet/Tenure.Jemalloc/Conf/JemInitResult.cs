// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Linq;

namespace Tenure;

/// <summary>What became of a configuration, setting by setting.</summary>
public sealed class JemInitResult
{
    private readonly List<string> _applied = [], _inEffect = [], _unknown = [];
    private readonly List<JemRefusal> _refused = [];

    internal JemInitResult()
    {
    }

    /// <summary>Keys that were set just now.</summary>
    public IReadOnlyList<string> Applied => _applied;

    /// <summary>Keys that can no longer be set, and have had the wanted value since the start.</summary>
    public IReadOnlyList<string> InEffect => _inEffect;

    /// <summary>Keys that can no longer be set, or whose value was refused; each with its reason.</summary>
    public IReadOnlyList<JemRefusal> Refused => _refused;

    /// <summary>Keys that nobody knows.</summary>
    public IReadOnlyList<string> Unknown => _unknown;

    /// <summary>Whether everything is as the configuration wants it.</summary>
    public bool Succeeded => _refused.Count == 0 && _unknown.Count == 0;

    /// <summary>What the environment must say at the start, for what was refused to be set then:
    /// <c>MALLOC_CONF=narenas:4,retain:false</c>. What else it said at this start stands in front. Empty when nothing was refused.</summary>
    public string MallocConf { get; private set; } = "";

    /// <summary>What was refused and unknown, with the line that sets it and the command; one sentence when there is nothing.</summary>
    public override string ToString()
    {
        if (Succeeded)
        {
            return "Everything is as the configuration wants it.";
        }
        var lines = _refused.Select(each => each.ToString()).Concat(_unknown.Select(each => each + " is no key of jemalloc's" + JemallocKeys.DidYouMean(each) + "."));
        string start = MallocConf.Length == 0 ? "" : " Set at the start: " + MallocConf + " " + JemallocUnavailableException.Command;
        return string.Join(' ', lines) + start;
    }

    internal void Apply(string key) => _applied.Add(key);

    internal void Find(string key) => _inEffect.Add(key);

    internal void Miss(string key) => _unknown.Add(key);

    internal void Refuse(JemRefusal refusal) => _refused.Add(refusal);

    /// <summary>Once, when all is known. Tenure's own options are no business of jemalloc's.</summary>
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
            // As a shell takes it.
            bool plain = all.All(each => char.IsAsciiLetterOrDigit(each) || "_:,.-+/".Contains(each, StringComparison.Ordinal));
            MallocConf = "MALLOC_CONF=" + (plain ? all : "'" + all.Replace("'", "'\\''", StringComparison.Ordinal) + "'");
        }
        return this;
    }
}

/// <summary>A setting that was not applied.</summary>
/// <param name="Key">Its key.</param>
/// <param name="Value">The value that was wanted.</param>
/// <param name="Reason">One sentence.</param>
public sealed record JemRefusal(string Key, string Value, string Reason)
{
    /// <summary>All three.</summary>
    /// <returns>The text.</returns>
    public override string ToString() => $"{Key}:{Value} was refused: {Reason}";
}

/// <summary>Not everything is as a configuration wants it. What could be applied was: see <see cref="Result"/>.</summary>
public sealed class JemInitException : InvalidOperationException
{
    /// <summary>Without a result.</summary>
    public JemInitException()
    {
    }

    /// <summary>With a sentence.</summary>
    /// <param name="message">The sentence.</param>
    public JemInitException(string? message)
        : base(message)
    {
    }

    /// <summary>With a sentence and a cause.</summary>
    /// <param name="message">The sentence.</param>
    /// <param name="innerException">The cause.</param>
    public JemInitException(string? message, Exception? innerException)
        : base(message, innerException)
    {
    }

    internal JemInitException(JemInitResult result)
        : base(result.ToString()) => Result = result;

    /// <summary>What was applied, refused and unknown.</summary>
    public JemInitResult? Result { get; }
}
