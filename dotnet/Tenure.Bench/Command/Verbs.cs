// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure.Bench;

/// <summary>The verbs of the tool and their descriptions.</summary>
internal static class Verbs
{
    private const string Size = "SIZE";

    internal static VerbCommand[] All() =>
    [
        new VerbCommand(
            Verb.Malloc, "malloc", "",
            "Blocks by pointer: NativeMemory, jemalloc and Tenure's Native, beside managed arrays.",
            Size, "Elements of an array; rounds with --fragment.")
            .With(Operations.Create, "--create", Create)
            .With(Operations.Fill, "--fill", Fill)
            .With(
                Operations.Fragment, "--fragment",
                "SIZE rounds of a big block that goes at once (64 MiB, 1 MiB more each round) and one of 90000 elements, kept or not.")
            .Finish(),
        Arrays(Verb.Buffer, "buffer", "array", "FixedBuffer beside managed arrays, NativeMemory and jemalloc."),
        Arrays(Verb.Safe, "safe", "", "SafeArray beside managed arrays, NativeMemory and jemalloc."),
        Arrays(
            Verb.Huge, "huge", "hugearray",
            "HugeArray beside the largest managed array, NativeMemory and jemalloc. "
            + "Always a cold start, of 3 iterations unless -t says otherwise."),
        new VerbCommand(
            Verb.Vector, "vector", "",
            "Vectors over managed and native memory, of Single unless a type is given.",
            Size, "A scale with --mandel (1: 768 x 512 points); otherwise elements [10000000].")
            .With(Operations.Mandelbrot, "--mandel", "The Mandelbrot set, element by element and by vectors, on one thread and on all.")
            .With(Operations.Fill, "--fill", "An array is filled by a loop, by vectors, by a span, by Tenure.")
            .With(Operations.Test, "--test", "Whether all elements are less than a value.")
            .Finish(),
        new VerbCommand(
            Verb.Lifetimes, "lifetimes", "",
            "1000 blocks of 4 bytes from each lifetime, one after the other: times, and how far they lie apart. "
            + "With --out, the three CSV files of each. -t is the number of rounds [7].",
            "COUNT", "Blocks [1000].")
            .Finish(),
    ];

    private const string Create = "Arrays are made and given up, zeroed and unwritten.";
    private const string Fill = "Warm memory is filled; arrays are made, filled and given up.";

    private static VerbCommand Arrays(Verb verb, string name, string alias, string description) =>
        new VerbCommand(verb, name, alias, description, Size, "Elements of an array; several are measured one after the other.")
            .With(Operations.Create, "--create", Create)
            .With(Operations.Fill, "--fill", Fill)
            .With(Operations.Multiply, "--math", "Every element of warm memory is multiplied by a value, in place.")
            .Finish();
}
