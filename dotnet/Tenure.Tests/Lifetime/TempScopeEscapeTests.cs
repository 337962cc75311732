// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using Xunit;

namespace Tenure.Tests;

/// <summary>What the compiler refuses is a promise as well: asked of the compiler of the SDK.</summary>
public sealed class TempScopeEscapeTests
{
    private const string Stays = """
        using System; using Tenure;
        static class Program {
            static int Sum() {
                using var scope = TempScope.Begin();
                Span<int> numbers = scope.Allocate<int>(10);
                Span<int> half = numbers[..5];
                numbers.Fill(1);
                TempList<int> list = scope.CreateList<int>();
                Append(list);
                ref int first = ref list[0];
                TempChunkedList<int> chunks = Chunks(in scope);
                ref int kept = ref chunks.Add(2);
                foreach (ref int each in list) each += kept;
                Utf8Builder text = scope.CreateUtf8Builder(), few = new(stackalloc byte[20]);
                using var held = new Utf8Builder(Lifetime.TempJob);
                text.Append($"{half.Length} {few.WrittenSpan}"); few.Append($"{text.WrittenSpan}"); held.Append($"{1,5:D}");
                Say(ref text); Say(ref few);
                return Add(half) + Add(scope.AllocateZeroed<int>(3)) + Add(list.AsSpan()) + first;
            }
            static void Say(ref Utf8Builder text) => text.Append($"sum {text.Length}");
            static void Append(TempList<int> list) => list.Add(1);
            static TempChunkedList<int> Chunks(in TempScope scope) => scope.CreateChunkedList<int>();
            static int Add(ReadOnlySpan<int> numbers) { int sum = 0; foreach (int each in numbers) sum += each; return sum; }
            static void Main() => Sum();
        }
        """;

    [Fact]
    public void spans_may_be_used_inside_the_scope() => Assert.Equal("", Compile(Stays));

    [Theory]
    [InlineData("Span<int> Out() { using var scope = TempScope.Begin(); return scope.Allocate<int>(1); }")]
    [InlineData("Span<int> Out() { using var scope = new TempScope(); Span<int> kept = scope.AllocateZeroed<int>(1); return kept; }")]
    [InlineData("void Out(ref Span<int> to) { using var scope = TempScope.Begin(); to = scope.Allocate<int>(1)[..1]; }")]
    [InlineData("int Out() { Span<int> to = default; { using var scope = TempScope.Begin(); to = scope.Allocate<int>(1); } return to[0]; }")]
    [InlineData("Func<int> Out() { using var scope = TempScope.Begin(); Span<int> kept = scope.Allocate<int>(1); return () => kept[0]; }")]
    [InlineData("TempList<int> Out() { using var scope = TempScope.Begin(); return scope.CreateList<int>(); }")]
    [InlineData("TempChunkedList<int> Out() { using var scope = TempScope.Begin(); return scope.CreateChunkedList<int>(); }")]
    [InlineData("void Out(ref TempList<int> to) { using var scope = TempScope.Begin(); to = scope.CreateList<int>(); }")]
    [InlineData("int Out() { TempList<int> to = default; { using var scope = TempScope.Begin(); to = scope.CreateList<int>(); } return to[0]; }")]
    [InlineData("Span<int> Out() { using var scope = TempScope.Begin(); return scope.CreateList<int>().AsSpan(); }")]
    [InlineData("Span<int> Out() { using var scope = TempScope.Begin(); return scope.CreateList<int>().AddUninitialized(1); }")]
    [InlineData("ref int Out() { using var scope = TempScope.Begin(); var list = scope.CreateList<int>(); list.Add(1); return ref list[0]; }")]
    [InlineData("ref int Out() { using var scope = TempScope.Begin(); return ref scope.CreateChunkedList<int>().Add(1); }")]
    [InlineData("Span<int> Out() { using var scope = TempScope.Begin(); return scope.CreateChunkedList<int>().Chunk(0); }")]
    [InlineData("Func<int> Out() { using var scope = TempScope.Begin(); var list = scope.CreateList<int>(); return () => list.Count; }")]
    [InlineData("TempList<int> Out(TempScope scope) => scope.CreateList<int>();")]
    [InlineData("Utf8Builder Out() { using var scope = TempScope.Begin(); return scope.CreateUtf8Builder(); }")]
    [InlineData("void Out(ref Utf8Builder to) { using var scope = TempScope.Begin(); to = scope.CreateUtf8Builder(); }")]
    [InlineData("ReadOnlySpan<byte> Out() { using var scope = TempScope.Begin(); Utf8Builder text = scope.CreateUtf8Builder(); return text.WrittenSpan; }")]
    [InlineData("Span<byte> Out() { using var scope = TempScope.Begin(); Utf8Builder text = scope.CreateUtf8Builder(); return text.GetSpan(9); }")]
    [InlineData("Utf8Builder Out() { Utf8Builder text = new(stackalloc byte[9]); text.Append($\"{1}\"); return text; }")]
    [InlineData("async System.Threading.Tasks.Task Out() { using var scope = TempScope.Begin(); await System.Threading.Tasks.Task.Yield(); scope.Dispose(); }")]
    public void a_span_that_would_leave_its_scope_does_not_compile(string method)
    {
        string errors = Compile($$"""using System; using Tenure; static class Program { static {{method}} static void Main() { } }""");
        Assert.Contains("error CS", errors, StringComparison.Ordinal);
        string[] allowed = ["CS8350", "CS8352", "CS8347", "CS8168", "CS8169", "CS8156", "CS9108", "CS8166", "CS8175", "CS4007", "CS9080"];
        Assert.All(
            errors.Split('\n').Where(line => line.Contains("error CS", StringComparison.Ordinal)),
            line => Assert.Contains(allowed, code => line.Contains(code, StringComparison.Ordinal)));
    }

    /// <summary>The errors; skips where there is no SDK beside the runtime.</summary>
    private static string Compile(string source)
    {
        string runtime = Path.GetDirectoryName(typeof(object).Assembly.Location)!;
        string root = Path.GetFullPath(Path.Combine(runtime, "..", "..", ".."));
        string? compiler = Directory.Exists(Path.Combine(root, "sdk"))
            ? Directory.GetDirectories(Path.Combine(root, "sdk")).Select(sdk => Path.Combine(sdk, "Roslyn", "bincore", "csc.dll"))
                .Where(File.Exists).Order().LastOrDefault()
            : null;
        Assert.SkipWhen(compiler is null, "There is no compiler beside this runtime.");
        string folder = Directory.CreateTempSubdirectory("tenure").FullName;
        try
        {
            string file = Path.Combine(folder, "program.cs");
            File.WriteAllText(file, source);
            var start = new ProcessStartInfo("dotnet")
            {
                RedirectStandardOutput = true,
                ArgumentList =
                {
                    compiler!, "-nologo", "-langversion:14", "-out:" + Path.Combine(folder, "program.dll"),
                    "-r:" + Path.Combine(runtime, "System.Private.CoreLib.dll"), "-r:" + Path.Combine(runtime, "System.Runtime.dll"),
                    "-r:" + typeof(TempScope).Assembly.Location, file,
                },
            };
            start.Environment["DOTNET_CLI_UI_LANGUAGE"] = "en";
            using Process process = Process.Start(start)!;
            string output = process.StandardOutput.ReadToEnd();
            process.WaitForExit();
            return process.ExitCode == 0 ? "" : output;
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }
}
