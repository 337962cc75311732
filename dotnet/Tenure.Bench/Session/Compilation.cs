// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using BenchmarkDotNet.Running;

namespace Tenure.Bench;

/// <summary>Before a cold start: the code of a case is compiled, so that its first iteration is of memory and not of the
/// compiler.</summary>
/// <remarks>
/// Every method of the benchmark is compiled, as hot code is where it has a loop. What it calls is compiled by a run over
/// one element; --fragment and --mandel have no run as small, and what they call is compiled when it is called first.
/// </remarks>
internal static class Compilation
{
    private const BindingFlags All =
        BindingFlags.Instance | BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;

    internal static void Of(BenchmarkCase chosen)
    {
        Descriptor descriptor = chosen.Descriptor;
        RuntimeTypeHandle[] arguments = [.. descriptor.Type.GetGenericArguments().Select(each => each.TypeHandle)];
        foreach (MethodInfo method in descriptor.Type.GetMethods(All).Where(each => !each.IsGenericMethodDefinition && !each.IsAbstract))
        {
            RuntimeHelpers.PrepareMethod(method.MethodHandle, arguments);
        }
        const Operations WithoutSmallRun = Operations.Fragment | Operations.Mandelbrot;
        if ((Selection.Request.Operations & WithoutSmallRun) != 0)
        {
            return;
        }
        var small = (CountedBenchmarks)Activator.CreateInstance(descriptor.Type)!;
        small.Count = 1;
        descriptor.GlobalSetupMethod?.Invoke(small, null);
        descriptor.WorkloadMethod.Invoke(small, null);
        descriptor.GlobalCleanupMethod?.Invoke(small, null);
    }
}
