// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.CommandLine;
using System.Globalization;
using System.Linq;

namespace Tenure.Bench;

/// <summary>A verb: its operations, the type options, and the options that all verbs have.</summary>
internal sealed class VerbCommand : Command
{
    private readonly Verb _verb;
    private readonly Dictionary<Operations, Option<bool>> _operations = [];
    private readonly TypeOptions _types;
    private readonly Argument<string[]> _counts;
    private readonly string _countName;
    private readonly Option<bool> _cold = Flag("--cold-start", "No warm-up: memory is touched for the first time. The code is compiled before.", "-c");
    private readonly Option<bool> _once = Flag("--once", "A cold start with one iteration.");
    private readonly Option<bool> _written = Flag("--written", "Writes the first batch's blocks within the measured time; the article does not.");
    private readonly Option<bool> _verbose = Flag("--verbose", "Shows BenchmarkDotNet's output while it runs.");

    private readonly Option<int?> _iterations = new("--target-count", "-t")
    {
        HelpName = "N",
        Description = "Number of measured iterations, 1 to 1000.",
    };

    private readonly Option<string?> _file = new("--file")
    {
        HelpName = "FOLDER",
        Description = "Puts Tenure's array in a file in this folder, so it can be larger than memory. The file is deleted with the array.",
    };

    private readonly Option<string?> _json = new("--json")
    {
        HelpName = "FILE",
        Description = "Writes all measurements as JSON; - is standard output.",
    };

    private readonly Option<string?> _out = new("--out")
    {
        HelpName = "FOLDER",
        Description = "Writes the tables (Markdown, CSV) and results.json into this folder.",
    };

    internal VerbCommand(Verb verb, string name, string alias, string description, string countName, string countHelp)
        : base(name, description)
    {
        _verb = verb;
        _countName = countName;
        if (alias.Length != 0)
        {
            Aliases.Add(alias);
        }
        _types = new TypeOptions(verb);
        _counts = new Argument<string[]>(countName)
        {
            Arity = ArgumentArity.ZeroOrMore,
            Description = countHelp,
            DefaultValueFactory = static _ => [],
        };
        Add(_counts);
    }

    internal int Begin(ParseResult parsed, string[] typed, string[] further)
    {
        string name = parsed.CommandResult.IdentifierToken?.Value ?? Name; // as typed: "array" for buffer
        string read = $"jembench {name} --help";
        string[] words = Words(parsed);
        if (words.FirstOrDefault(word => word.StartsWith('-')) is { } unknown)
        {
            string near = unknown == "-h"
                ? "; use --help for help"
                : NearestWord.Question(unknown, CommandLine.Words(this).Append("--help"));
            return CommandLine.Refuse($"{unknown} is not an option of {name}{near}", read);
        }
        var counts = new List<long>();
        foreach (string word in words)
        {
            if (!long.TryParse(Digits(word), NumberStyles.None, CultureInfo.InvariantCulture, out long count) || count < 1)
            {
                string near = NearestWord.Question(word, CommandLine.Words(this));
                return CommandLine.Refuse($"{word} is not a valid {_countName.ToLowerInvariant()}: use a whole number of at least 1{near}", read);
            }
            counts.Add(count);
        }
        if (parsed.Errors.Count != 0)
        {
            return CommandLine.Refuse(parsed.Errors[0].Message, read);
        }
        Operations operations = Chosen(parsed);
        string? refusal = operations == Operations.None && _operations.Count != 0
            ? $"{name} needs an operation: {string.Join(", ", _operations.Values.Select(each => each.Name))}{NotHelp(typed)}"
            : counts.Count == 0 && _verb is not (Verb.Vector or Verb.Lifetimes)
            ? $"{name} needs at least one {_countName.ToLowerInvariant()}, such as {(operations == Operations.Fragment ? "100" : "1000000")}"
            : Sense.Refuse(_verb, operations, counts, parsed.GetValue(_iterations)) ?? _types.Refusal(parsed, operations);
        if (refusal is not null)
        {
            return CommandLine.Refuse(refusal, read);
        }
        BenchRequest request = RequestOf(parsed, typed, further, counts);
        return _verb == Verb.Lifetimes ? LifetimesRun.Run(request) : BenchSession.Run(request);
    }

    /// <summary>Parses a command line in a child process; its parent has already validated it.</summary>
    internal static BenchRequest Again(IReadOnlyList<string> typed)
    {
        var root = new RootCommand();
        VerbCommand[] all = Verbs.All();
        foreach (VerbCommand each in all)
        {
            root.Add(each);
        }
        foreach (Option option in root.Options.Where(each => each.Aliases.Contains("-h")).ToArray())
        {
            root.Options.Remove(option);
        }
        ParseResult parsed = root.Parse(typed);
        var command = (VerbCommand)parsed.CommandResult.Command;
        long[] counts = [.. command.Words(parsed).Select(word => long.Parse(Digits(word), CultureInfo.InvariantCulture))];
        return command.RequestOf(parsed, typed, [], counts);
    }

    private BenchRequest RequestOf(
        ParseResult parsed, IReadOnlyList<string> typed, IReadOnlyList<string> further, IReadOnlyList<long> counts)
    {
        Operations operations = Chosen(parsed);
        if (counts.Count == 0)
        {
            counts = _verb == Verb.Lifetimes ? [1000] : operations == Operations.Mandelbrot ? [1] : [10_000_000];
        }
        return new BenchRequest
        {
            Verb = _verb,
            VerbName = typed[0],
            Operations = operations,
            Counts = counts,
            Element = _types.Chosen(parsed),
            IsColdStart = parsed.GetValue(_cold),
            IsOnce = parsed.GetValue(_once),
            Iterations = parsed.GetValue(_iterations),
            FirstBatch = parsed.GetValue(_written) ? Storing.Inside : Storing.Outside,
            FileFolder = parsed.GetValue(_file),
            JsonFile = parsed.GetValue(_json),
            OutFolder = parsed.GetValue(_out),
            IsVerbose = parsed.GetValue(_verbose),
            Further = further,
            Arguments = typed,
        };
    }

    /// <summary>A hint for -h, which often means help.</summary>
    internal static string NotHelp(string[] typed) => typed.Contains("-h") ? " (-h is Int16; use --help for help)" : "";

    private Operations Chosen(ParseResult parsed) =>
        _operations.Aggregate(Operations.None, (all, each) => parsed.GetValue(each.Value) ? all | each.Key : all);

    /// <summary>Adds an operation.</summary>
    internal VerbCommand With(Operations operation, string name, string description)
    {
        _operations[operation] = Flag(name, description);
        Add(_operations[operation]);
        return this;
    }

    /// <summary>Adds the options that follow those of the verb.</summary>
    internal VerbCommand Finish()
    {
        if (_verb != Verb.Lifetimes)
        {
            _types.AddTo(this);
            Add(_cold);
            Add(_once);
        }
        Add(_iterations);
        if (_verb == Verb.Lifetimes)
        {
            Add(_written);
        }
        if (_verb == Verb.Huge)
        {
            Add(_file);
        }
        Add(_json);
        Add(_out);
        if (_verb != Verb.Lifetimes)
        {
            Add(_verbose);
            Description += $"{Environment.NewLine}Arguments after -- go to BenchmarkDotNet: exporters, columns and filters.";
        }
        return this;
    }

    private string[] Words(ParseResult parsed) => [.. parsed.GetResult(_counts)?.Tokens.Select(token => token.Value) ?? []];

    /// <summary>Accepts digits with separators, such as 10_000_000.</summary>
    private static string Digits(string word) => word.Replace("_", "", StringComparison.Ordinal);

    internal static Option<bool> Flag(string name, string description, params string[] aliases) =>
        new(name, aliases) { Arity = ArgumentArity.Zero, Description = description };
}
