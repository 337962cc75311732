// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Linq;
using System.Reflection;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure.Bench;

/// <summary>Compiles and links the code that a first batch calls, without allocating from the measured
/// allocator.</summary>
/// <remarks>
/// The first batch includes the allocator's one-time work for the process and the thread: its first range or chunk, the
/// thread's record, the first page faults. Therefore no block and no frame may come before it. The compiler and the
/// loading of the library are outside the measurement; a program that is compiled ahead of time and linked has neither.
/// malloc is the exception: the runtime itself has used it since the process started.
/// </remarks>
internal static class ColdCode
{
    private const BindingFlags All =
        BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Static | BindingFlags.DeclaredOnly;

    internal static unsafe void Prepare<T>(RowKind kind)
        where T : struct, ILifetimeBlocks
    {
        if (kind == RowKind.Tenure)
        {
            _ = Native.Frame; // loads the library and reads a counter
            Assembly library = typeof(Native).Assembly;
            foreach (string name in (string[])["Native", "QuickThread", "NativeLibraryCheck", "NativeMethods", "Throw"])
            {
                Compile(library.GetType($"Tenure.{name}", throwOnError: true)!);
            }
            foreach (string name in (string[])["NativeQuickLayout", "NativeQuickThread"])
            {
                foreach (ConstructorInfo made in library.GetType($"Tenure.{name}", throwOnError: true)!.GetConstructors())
                {
                    RuntimeHelpers.PrepareMethod(made.MethodHandle);
                }
            }
        }
        else
        {
            Compile(typeof(NativeMemory));
            Link(typeof(NativeMemory).Assembly.GetType("Interop+Sys"), "Malloc", "Free", "AlignedAlloc", "AlignedFree");
        }
        Compile(typeof(T));
        Compile(typeof(LifetimeLoops<T>));
        LifetimeLoops<T>.AllocateFirst([]);
        LifetimeLoops<T>.AllocateAndWriteFirst([]);
        T.Deallocate(null);
    }

    /// <summary>The number of methods compiled for this thread so far; none may be compiled between the two times of a
    /// first batch.</summary>
    internal static long CompiledMethods => JitInfo.GetCompiledMethodCount(currentThread: true);

    /// <exception cref="InvalidOperationException">The times include compilation.</exception>
    internal static void RefuseCompiled(long methods)
    {
        if (methods != 0)
        {
            throw new InvalidOperationException($"{methods} methods were compiled while the first batch was timed.");
        }
    }

    private static void Compile(Type type)
    {
        RuntimeTypeHandle[] arguments = [.. type.GenericTypeArguments.Select(each => each.TypeHandle)];
        foreach (MethodInfo method in type.GetMethods(All))
        {
            if (method.IsGenericMethodDefinition)
            {
                continue;
            }
            if (method.Attributes.HasFlag(MethodAttributes.PinvokeImpl))
            {
                Marshal.Prelink(method);
            }
            else
            {
                RuntimeHelpers.PrepareMethod(method.MethodHandle, arguments);
            }
        }
    }

    private static void Link(Type? type, params string[] names)
    {
        foreach (MethodInfo method in type?.GetMethods(All) ?? [])
        {
            if (names.Contains(method.Name) && method.Attributes.HasFlag(MethodAttributes.PinvokeImpl))
            {
                Marshal.Prelink(method);
            }
        }
    }
}
