// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using BenchmarkDotNet.Running;

namespace Tenure.Bench;

/// <summary>Compiles the code of a case before a cold start, so that its first iteration measures memory and not the
/// compiler.</summary>
/// <remarks>
/// Every method of the benchmark is compiled, at the hot-code level if it has a loop. The methods that it calls are
/// compiled by a run over one element; --fragment and --mandel have no run that small, so the methods that they call
/// are compiled at the first call.
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
