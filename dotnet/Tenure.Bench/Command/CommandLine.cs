// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.CommandLine;
using System.CommandLine.Help;
using System.Linq;

namespace Tenure.Bench;

/// <summary>The command line: verbs, their options and the error messages.</summary>
internal static class CommandLine
{
    internal static int Run(string[] args)
    {
        var root = new RootCommand(Description())
        {
            HelpName = "jembench",
        };
        // -h is Int16, as in jemalloc.NET's tool.
        foreach (HelpOption option in root.Options.OfType<HelpOption>().ToArray())
        {
            root.Options.Remove(option);
        }
        var help = new HelpOption("--help", "-?");
        root.Add(help);
        foreach (VerbCommand verb in Verbs.All())
        {
            root.Add(verb);
        }
        ShortCommand.AddTo(root);
        if (args.Length == 0)
        {
            Console.Out.WriteLine(Versions.Line);
            Console.Out.WriteLine();
            return root.Parse(["--help"]).Invoke();
        }
        string[] own = [.. args.TakeWhile(argument => argument != "--")];
        string[] further = [.. args.Skip(own.Length + 1)];
        ParseResult parsed = root.Parse(own);
        if (own is ["--version"])
        {
            Console.Out.WriteLine(Versions.Line);
            return ExitCode.Ok;
        }
        if (parsed.GetResult(help) is not null)
        {
            return parsed.Invoke();
        }
        if (parsed.CommandResult.Command is VerbCommand chosen)
        {
            return chosen.Begin(parsed, own, further);
        }
        if (parsed.CommandResult.Command == root)
        {
            return own is ["-h", ..]
                ? Refuse("-h is Int16, an option of the verbs; use --help for help", "jembench --help")
                : Refuse($"{own[0]} is not a verb{NearestWord.Question(own[0], Words(root))}", "jembench --help");
        }
        return parsed.Errors.Count == 0 ? parsed.Invoke() : Refuse(parsed.Errors[0].Message, "jembench --help");
    }

    /// <summary>Reports why a command line is not valid, and which help to read.</summary>
    internal static int Refuse(string reason, string read)
    {
        Console.Error.WriteLine($"jembench: {reason}");
        Console.Error.WriteLine($"See: {read}");
        return ExitCode.BadUsage;
    }

    internal static IEnumerable<string> Words(Command command) =>
        command.Subcommands.Where(each => !each.Hidden).SelectMany(each => each.Aliases.Prepend(each.Name))
            .Concat(command.Options.SelectMany(each => each.Aliases.Prepend(each.Name)));

    private static string Description() => string.Join(
        Environment.NewLine,
        "Measures native memory in .NET: managed arrays, NativeMemory, jemalloc and Tenure, on BenchmarkDotNet.",
        "",
        "Each row is measured in its own process; jemalloc's rows are the NativeMemory rows with jemalloc preloaded.",
        ExitCode.Help,
        "",
        "Examples:",
        "  jembench malloc --fragment 100 -u -b --cold-start",
        "  jembench array --fill 10000000 100000000 -l -u",
        "  jembench hugearray --fill -i 4200000000",
        "  jembench hugearray -l -u --math --cold-start -t 3 4096000000",
        "  jembench vector --mandel",
        "  jembench lifetimes --out results");
}
