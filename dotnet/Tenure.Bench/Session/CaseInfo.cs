// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Globalization;
using System.Reflection;
using BenchmarkDotNet.Running;

namespace Tenure.Bench;

/// <summary>Our description of a BenchmarkDotNet case.</summary>
/// <param name="Row">The name in the tables.</param>
/// <param name="Kind">The allocator.</param>
/// <param name="Operation">The table that the case belongs to.</param>
/// <param name="Count">The requested count.</param>
/// <param name="Elements">The number of elements that an operation processes; 0 if elements are not counted.</param>
/// <param name="NeedBytes">The memory that it needs at the same time, in bytes.</param>
/// <param name="NeedFileBytes">The space that it needs in the folder for files, in bytes.</param>
/// <param name="Key">Identifies the case within a command line.</param>
internal sealed record CaseInfo(
    string Row, RowKind Kind, string Operation, long Count, long Elements, long NeedBytes, long NeedFileBytes, string Key)
{
    internal static CaseInfo Of(BenchmarkCase measured)
    {
        BenchRequest request = Selection.Request;
        MethodInfo method = measured.Descriptor.WorkloadMethod;
        RowAttribute row = method.GetCustomAttribute<RowAttribute>() ?? new RowAttribute(RowKind.Managed, method.Name);
        long count = Convert.ToInt64(measured.Parameters[nameof(CountedBenchmarks.Count)], CultureInfo.InvariantCulture);
        long elements = row.Kind == RowKind.Managed ? CountedBenchmarks.ManagedCount(count) : count;
        long need = elements * request.Element.Size;
        long file = 0;
        switch (request.Operations)
        {
            case Operations.Fragment:
                need = Fragment(request.Element.Size, count);
                elements = 0;
                break;
            case Operations.Mandelbrot:
                need = elements = MandelbrotBenchmarks<float>.Points(count);
                need *= 2;
                break;
            default:
                break;
        }
        if (request.FileFolder is not null && row.Kind == RowKind.Tenure)
        {
            (need, file) = (0, need);
        }
        string name = row.Name.Replace("{ours}", OwnName(request.Verb), StringComparison.Ordinal)
            .Replace("{other}", OtherAlignment(request.Verb).ToString(CultureInfo.InvariantCulture), StringComparison.Ordinal);
        if (request.FileFolder is not null && row.Kind == RowKind.Tenure)
        {
            name += ", in a file";
        }
        string key = $"{method.DeclaringType!.Name}.{method.Name}({count.ToString(CultureInfo.InvariantCulture)})";
        return new(name, row.Kind, string.Join(", ", measured.Descriptor.Categories), count, elements, need, file, key);
    }

    private static string OwnName(Verb verb) => verb switch
    {
        Verb.Malloc => OwnBlock<int>.Name,
        Verb.Buffer => OwnFixedBuffer<int>.Name,
        Verb.Huge => OwnHugeArray<int>.Name,
        _ => OwnSafeArray<int>.Name,
    };

    private static int OtherAlignment(Verb verb) =>
        verb == Verb.Malloc ? OwnBlock<int>.OtherAlignment : OwnSafeArray<int>.OtherAlignment;

    private static long Fragment(int size, long rounds) =>
        FragmentBenchmarks<byte>.Need(rounds) + (rounds * 90_000 * (size - 1));
}
