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
            "Blocks by pointer: NativeMemory, jemalloc and Tenure's Native, compared with managed arrays.",
            Size, "Number of array elements; rounds with --fragment.")
            .With(Operations.Create, "--create", Create)
            .With(Operations.Fill, "--fill", Fill)
            .With(
                Operations.Fragment, "--fragment",
                "SIZE rounds of a big block that is freed at once (64 MiB, 1 MiB more each round) and one of 90000 elements, kept or not.")
            .Finish(),
        Arrays(Verb.Buffer, "buffer", "array", "FixedBuffer, compared with managed arrays, NativeMemory and jemalloc."),
        Arrays(Verb.Safe, "safe", "", "SafeArray, compared with managed arrays, NativeMemory and jemalloc."),
        Arrays(
            Verb.Huge, "huge", "hugearray",
            "HugeArray, compared with the largest managed array, NativeMemory and jemalloc. "
            + "Always a cold start, with 3 iterations unless -t is given."),
        new VerbCommand(
            Verb.Vector, "vector", "",
            "Vector operations on managed and native memory; Single unless a type is given.",
            Size, "The scale with --mandel (1: 768 x 512 points); otherwise the number of elements [10000000].")
            .With(Operations.Mandelbrot, "--mandel", "Computes the Mandelbrot set by element and by vector, on one thread and on all.")
            .With(Operations.Fill, "--fill", "Fills an array by a loop, by vectors, by a span and by Tenure.")
            .With(Operations.Test, "--test", "Tests whether all elements are less than a value.")
            .Finish(),
        new VerbCommand(
            Verb.Lifetimes, "lifetimes", "",
            "Allocates 1000 blocks of 4 bytes from each lifetime, one after the other: times, and distances between neighbors. "
            + "--out writes three CSV files for each. -t is the number of rounds [7].",
            "COUNT", "Number of blocks [1000].")
            .Finish(),
    ];

    private const string Create = "Creates and frees arrays, zeroed and uninitialized.";
    private const string Fill = "Fills warm memory; creates, fills and frees arrays.";

    private static VerbCommand Arrays(Verb verb, string name, string alias, string description) =>
        new VerbCommand(verb, name, alias, description, Size, "Number of array elements; several numbers are measured one after the other.")
            .With(Operations.Create, "--create", Create)
            .With(Operations.Fill, "--fill", Fill)
            .With(Operations.Multiply, "--math", "Multiplies every element of warm memory by a value, in place.")
            .Finish();
}
