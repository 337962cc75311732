// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Numerics;
using System.Numerics.Tensors;

namespace Tenure.Bench;

/// <summary>Kernels part: each operation of VectorMaths and the same one of TensorPrimitives, on managed arrays and on
/// Tenure's, in the first cache and past the last one.</summary>
/// <remarks>
/// "In memory" has arrays larger than any cache. Sums differ in what they promise: VectorMaths adds integers in 64 bits
/// and floating-point numbers in a fixed order. In the C# of .NET, both are generic code that the runtime compiles for
/// the machine.
/// </remarks>
internal static unsafe class ShortKernels
{
    private const int InCacheBytes = 8 << 10;
    private const int Passes = 9;
    private const double PassNanoseconds = 200_000;

    internal static void Measure(string row, int memoryBytes, ShortResult found)
    {
        if (row is not ("managed" or "safe-array-tensor" or "safe-array"))
        {
            found.Error = $"{row} does not take part in {ShortPart.Kernels}";
            return;
        }
        var settled = new List<Kernel>();
        AddAll(row, InCacheBytes, settled);
        HotCode.Settle(() => settled.ForEach(kernel => kernel.Run()));
        AddFigures(settled, ", in the first cache", found);
        var large = new List<Kernel>();
        AddAll(row, memoryBytes, large);
        AddFigures(large, ", in memory", found);
        ShortPart.AddPeak(ShortPart.Kernels, found);
        ShortPart.Prove(row, found.Proof, () =>
        {
            if (row == "managed")
            {
                found.Proof.Show<float>([new float[InCacheBytes]]);
                return;
            }
            using var shown = new SafeArray<float>(InCacheBytes);
            found.Proof.Show([(nint)shown.PointerTo(0)], InCacheBytes * sizeof(float));
        });
    }

    private static void AddAll(string row, int bytes, List<Kernel> kernels)
    {
        var single = new Operands<float>(row, bytes);
        AddArithmetic(single, kernels);
        kernels.Add(single.Kernel(
            "square root", (x, _, to) => TensorPrimitives.Sqrt<float>(x, to), static (x, _, to) => VectorMaths.SquareRoot<float>(x, to)));
        float sum = 0;
        kernels.Add(single.Kernel("sum", (x, _, _) => sum = TensorPrimitives.Sum<float>(x), (x, _, _) => sum = VectorMaths.Sum(x)));
        kernels.Add(single.Kernel("dot product", (x, y, _) => sum = TensorPrimitives.Dot<float>(x, y), (x, y, _) => sum = VectorMaths.Dot(x, y)));
        kernels.Add(single.Kernel(
            "greatest", (x, _, _) => sum = TensorPrimitives.Max<float>(x), (x, _, _) => VectorMaths.TryMaximum<float>(x, out sum)));
        var integer = new Operands<int>(row, bytes);
        AddIntegers(integer, kernels);
        long total = 0;
        kernels.Add(integer.Kernel("sum", (x, _, _) => total = TensorPrimitives.Sum<int>(x), (x, _, _) => total = VectorMaths.Sum(x)));
        AddIntegers(new Operands<ushort>(row, bytes), kernels);
    }

    private static void AddArithmetic<T>(Operands<T> of, List<Kernel> kernels)
        where T : unmanaged, INumber<T>
    {
        kernels.Add(of.Kernel("add", static (x, y, to) => TensorPrimitives.Add<T>(x, y, to), static (x, y, to) => VectorMaths.Add<T>(x, y, to)));
        kernels.Add(of.Kernel(
            "subtract", static (x, y, to) => TensorPrimitives.Subtract<T>(x, y, to), static (x, y, to) => VectorMaths.Subtract<T>(x, y, to)));
        kernels.Add(of.Kernel(
            "minimum", static (x, y, to) => TensorPrimitives.Min<T>(x, y, to), static (x, y, to) => VectorMaths.Minimum<T>(x, y, to)));
        kernels.Add(of.Kernel(
            "maximum", static (x, y, to) => TensorPrimitives.Max<T>(x, y, to), static (x, y, to) => VectorMaths.Maximum<T>(x, y, to)));
        AddIntegers(of, kernels);
    }

    private static void AddIntegers<T>(Operands<T> of, List<Kernel> kernels)
        where T : unmanaged, INumber<T>
    {
        T by = T.CreateTruncating(3);
        kernels.Add(of.Kernel(
            "multiply", static (x, y, to) => TensorPrimitives.Multiply<T>(x, y, to), static (x, y, to) => VectorMaths.Multiply<T>(x, y, to)));
        kernels.Add(of.Kernel(
            "multiply by a value, in place", (_, y, _) => TensorPrimitives.Multiply<T>(y, by, y), (_, y, _) => VectorMaths.Multiply<T>(y, by, y),
            isLast: true));
        kernels.Add(of.Kernel(
            "divide", static (x, y, to) => TensorPrimitives.Divide<T>(x, y, to), static (x, y, to) => VectorMaths.Divide<T>(x, y, to)));
        kernels.Add(of.Kernel(
            "divide by a value", (x, _, to) => TensorPrimitives.Divide<T>(x, by, to), (x, _, to) => VectorMaths.Divide<T>(x, by, to)));
    }

    private static void AddFigures(List<Kernel> kernels, string place, ShortResult found)
    {
        foreach (Kernel kernel in kernels)
        {
            kernel.Run();
            long begin = Stopwatch.GetTimestamp();
            kernel.Run();
            int calls = (int)Math.Clamp(PassNanoseconds / Stopwatch.GetElapsedTime(begin).TotalNanoseconds, 1, 10_000);
            double[] passes = new double[Passes];
            for (int pass = 0; pass < Passes; pass++)
            {
                begin = Stopwatch.GetTimestamp();
                for (int call = 0; call < calls; call++)
                {
                    kernel.Run();
                }
                passes[pass] = Stopwatch.GetElapsedTime(begin).TotalNanoseconds / calls;
            }
            found.Add(kernel.Name, kernel.Type + place, "ns/element", SampleStatistics.Median(passes) / kernel.Count);
        }
    }

    private delegate void Operation<T>(Span<T> left, Span<T> right, Span<T> destination);

    private sealed record Kernel(string Name, string Type, int Count, Action Run);

    /// <summary>Two sources and a destination, managed or Tenure's.</summary>
    private sealed class Operands<T>
        where T : unmanaged, INumber<T>
    {
        private readonly string _row;
        private readonly int _count;
        private readonly T[]?[] _managed = new T[]?[4];
        private readonly SafeArray<T>?[] _own = new SafeArray<T>?[4];

        internal Operands(string row, int bytes)
        {
            _row = row;
            _count = bytes / sizeof(T);
            var random = new Random(1);
            for (int i = 0; i < _own.Length; i++)
            {
                if (row == "managed")
                {
                    _managed[i] = new T[_count];
                }
                else
                {
                    _own[i] = new SafeArray<T>(_count);
                }
                Span<T> values = At(i);
                for (int at = 0; at < values.Length; at++)
                {
                    values[at] = T.CreateTruncating(random.Next(1, 100)); // no zero: it divides
                }
            }
        }

        /// <summary>Makes a kernel. One that works in place has a right operand of its own.</summary>
        internal Kernel Kernel(string name, Operation<T> tensor, Operation<T> ours, bool isLast = false)
        {
            Operation<T> chosen = _row == "safe-array" ? ours : tensor;
            int right = isLast ? 3 : 1;
            return new(name, typeof(T).Name, _count, () => chosen(At(0), At(right), At(2)));
        }

        private Span<T> At(int index) => _own[index] is { } own ? own.Span : _managed[index];
    }
}
