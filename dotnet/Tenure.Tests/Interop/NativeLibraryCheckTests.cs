// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using Xunit;

namespace Tenure.Tests;

/// <summary>What a user reads; that it is thrown is tried by the consumers of the package, without and with another
/// library.</summary>
public sealed class NativeLibraryCheckTests
{
    [Fact]
    public void the_library_beside_the_program_passes()
    {
        NativeLibraryCheck.Ensure();
        NativeLibraryCheck.Ensure();
        Assert.Equal(NativeMethods.AbiVersion, NativeMethods.tn_abi_version());
        Assert.Equal(NativeMethods.QuickVersion, NativeMethods.tn_quick_version());
    }

    [Fact]
    public void a_missing_library_is_told_with_where_it_was_looked_for()
    {
        TenureLoadException thrown = NativeLibraryCheck.Missing(new DllNotFoundException("no such file"), ["/nowhere", "/nor/here"]);
        Assert.Null(thrown.LibraryPath);
        Assert.Null(thrown.FoundAbiVersion);
        foreach (string part in (string[])["was not found", NativeLibraryCheck.FileName, "/nowhere, /nor/here", "Next step: ", "no such file",
            RuntimeInformation.RuntimeIdentifier, $"ABI version {NativeMethods.AbiVersion}", "cmake --preset release"])
        {
            Assert.Contains(part, thrown.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void what_the_loader_said_is_printed_once()
    {
        TenureLoadException thrown = NativeLibraryCheck.Missing(new DllNotFoundException("no such file"), ["/nowhere"]);
        Assert.Equal(2, thrown.ToString().Split("no such file").Length);
    }

    [Fact]
    public void a_library_that_does_not_load_is_told_with_its_path()
    {
        string folder = Directory.CreateTempSubdirectory("tenure").FullName, path = Path.Combine(folder, NativeLibraryCheck.FileName);
        File.WriteAllText(path, "not a library");
        try
        {
            TenureLoadException thrown = NativeLibraryCheck.Missing(new DllNotFoundException("invalid ELF header"), ["/nowhere", folder]);
            Assert.Equal(path, thrown.LibraryPath);
            Assert.Contains("could not be loaded", thrown.Message, StringComparison.Ordinal);
            Assert.Contains("invalid ELF header", thrown.Message, StringComparison.Ordinal);
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    [Fact]
    public void a_library_of_another_version_is_told_with_both_versions()
    {
        TenureLoadException thrown = NativeLibraryCheck.Unlike(77, "/opt/libtenure.so", null);
        Assert.Equal(77u, thrown.FoundAbiVersion);
        Assert.Equal(NativeMethods.AbiVersion, thrown.WantedAbiVersion);
        Assert.Contains("/opt/libtenure.so with ABI version 77", thrown.Message, StringComparison.Ordinal);
        Assert.Contains("has no function tn_abi_version",
            NativeLibraryCheck.Unlike(null, null, new EntryPointNotFoundException()).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void a_library_of_another_layout_is_refused_with_both_versions()
    {
        TenureLoadException thrown = NativeLibraryCheck.UnlikeLayout(77, "/opt/libtenure.so");
        Assert.Contains($"layout version {NativeMethods.QuickVersion}.", thrown.Message, StringComparison.Ordinal);
        Assert.Contains("/opt/libtenure.so with layout version 77", thrown.Message, StringComparison.Ordinal);
        Assert.Contains("has no function tn_quick_version", NativeLibraryCheck.UnlikeLayout(0, null).Message, StringComparison.Ordinal);
        Assert.Contains("Next step: ", thrown.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void nobody_meets_a_type_initializer()
    {
        // An exception from one would be wrapped, and the library not looked for again.
        Assert.Null(typeof(NativeLibraryCheck).TypeInitializer);
        Assert.Null(typeof(NativeMethods).TypeInitializer);
    }

    [Fact]
    public void every_signature_is_blittable()
    {
        MethodInfo[] methods = typeof(NativeMethods).GetMethods(BindingFlags.Static | BindingFlags.NonPublic | BindingFlags.DeclaredOnly);
        Type[] types = [.. methods.SelectMany(m => m.GetParameters().Select(p => p.ParameterType).Append(m.ReturnType))];
        Assert.Empty(types.Where(type => !IsBlittable(type)).Distinct());
    }

    private static bool IsBlittable(Type type) =>
        type == typeof(void) || type.IsPointer || type.IsFunctionPointer || type.IsUnmanagedFunctionPointer
        || (type.IsPrimitive && type != typeof(bool) && type != typeof(char)) || type.IsEnum
        || (type.IsValueType && !type.IsGenericType
            && type.GetFields(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic).All(f => IsBlittable(f.FieldType)));
}
