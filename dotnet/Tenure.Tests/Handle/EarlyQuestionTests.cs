// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Runtime.Loader;
using Xunit;

namespace Tenure.Tests;

/// <summary>What is asked before the native library can be loaded must not stay the answer.</summary>
public sealed class EarlyQuestionTests
{
    [Fact]
    public void buffers_work_although_a_handle_was_asked_before_the_library_was_there()
    {
        // An assembly of its own, whose statics nobody has touched.
        var context = new AssemblyLoadContext("early", isCollectible: false);
        Assembly early = context.LoadFromAssemblyPath(typeof(FixedBuffer).Assembly.Location);
        bool isThere = false;
        NativeLibrary.SetDllImportResolver(early, (name, _, _) => isThere
            ? NativeLibrary.Load(name, typeof(FixedBuffer).Assembly, null)
            : throw new DllNotFoundException("not yet"));

        Type handle = early.GetType("Tenure.NativeHandle", throwOnError: true)!;
        Type table = early.GetType("Tenure.HandleTable", throwOnError: true)!;
        Type buffer = early.GetType("Tenure.FixedBuffer`1", throwOnError: true)!.MakeGenericType(typeof(int));
        object none = Activator.CreateInstance(handle)!;
        Assert.Equal(false, handle.GetProperty("IsLive")!.GetValue(none));
        Assert.Equal(0, table.GetMethod("Holders")!.Invoke(null, [none]));
        Assert.Equal("ObjectDisposedException", Thrown(() => table.GetMethod("Acquire")!.Invoke(null, [none])));
        Assert.Equal("ObjectDisposedException", Thrown(() => table.GetMethod("Free")!.Invoke(null, [none])));
        Assert.Equal(false, buffer.GetProperty("IsValid")!.GetValue(Activator.CreateInstance(buffer)));
        Assert.Equal("TenureLoadException", Thrown(() => Activator.CreateInstance(buffer, 5)));
        Type group = early.GetType("Tenure.AffinityGroup", throwOnError: true)!;
        Assert.All(
            (string[])["Objects", "Data", "Nodes", "Physics"],
            name => Assert.Equal("TenureLoadException", Thrown(() => group.GetProperty(name)!.GetValue(null))));

        isThere = true;
        object made = Activator.CreateInstance(buffer, 5)!;
        Assert.Equal(true, buffer.GetProperty("IsValid")!.GetValue(made));
        Assert.Equal(true, buffer.GetMethod("Free")!.Invoke(made, null));
    }

    private static string Thrown(Action action) =>
        Assert.Throws<TargetInvocationException>(action).InnerException!.GetType().Name;
}
