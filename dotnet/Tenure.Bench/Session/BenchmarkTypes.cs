// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;

namespace Tenure.Bench;

/// <summary>Selects the benchmark classes for a request.</summary>
internal static class BenchmarkTypes
{
    internal static IReadOnlyList<Type> Of(BenchRequest request)
    {
        Type element = request.Element.Type;
        var chosen = new List<Type>();
        if (request.Element == ElementType.Text)
        {
            return [typeof(TextBenchmarks)];
        }
        if (request.Operations.HasFlag(Operations.Fragment))
        {
            chosen.Add(typeof(FragmentBenchmarks<>).MakeGenericType(element));
        }
        if (request.Verb == Verb.Vector)
        {
            Add(Operations.Mandelbrot, typeof(MandelbrotBenchmarks<>));
            Add(Operations.Fill, typeof(VectorFillBenchmarks<>));
            Add(Operations.Test, typeof(LessThanBenchmarks<>));
            return chosen;
        }
        (Type own, Type multiply) = request.Verb switch
        {
            Verb.Malloc => (typeof(OwnBlock<>), typeof(void)),
            Verb.Buffer => (typeof(OwnFixedBuffer<>), typeof(FixedBufferMultiply<>)),
            Verb.Safe => (typeof(OwnSafeArray<>), typeof(SafeArrayMultiply<>)),
            _ => (typeof(OwnHugeArray<>), typeof(HugeArrayMultiply<>)),
        };
        own = own.MakeGenericType(element);
        if (request.Operations.HasFlag(Operations.Create))
        {
            chosen.Add(typeof(CreateBenchmarks<,>).MakeGenericType(element, own));
        }
        if (request.Operations.HasFlag(Operations.Fill))
        {
            chosen.Add(typeof(FillBenchmarks<,>).MakeGenericType(element, own));
        }
        if (request.Operations.HasFlag(Operations.Multiply))
        {
            chosen.Add(typeof(MultiplyBenchmarks<,,>).MakeGenericType(element, own, multiply.MakeGenericType(element)));
        }
        return chosen;

        void Add(Operations operation, Type open)
        {
            if (request.Operations.HasFlag(operation))
            {
                chosen.Add(open.MakeGenericType(element));
            }
        }
    }
}
