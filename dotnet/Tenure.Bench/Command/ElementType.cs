// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;

namespace Tenure.Bench;

/// <summary>What arrays are made of.</summary>
/// <param name="Name">As .NET calls it.</param>
/// <param name="Type">The type itself.</param>
/// <param name="Size">Bytes of an element.</param>
/// <param name="Option">How it is asked for.</param>
internal sealed record ElementType(string Name, Type Type, int Size, string Option)
{
    internal static ElementType UserDefined { get; } =
        new("Employee", typeof(Employee), Marshal.SizeOf<Employee>(), "--udt");

    /// <summary>Strings of about 40 characters.</summary>
    internal static ElementType Text { get; } = new("String", typeof(string), 120, "-s");

    internal bool IsNumber => Type.IsPrimitive;

    internal static ElementType Of<T>(string option)
        where T : unmanaged => new(typeof(T).Name, typeof(T), Marshal.SizeOf<T>(), option);

    /// <summary>The integer of so many bits.</summary>
    internal static ElementType Integer(int bits, bool isUnsigned) => (bits, isUnsigned) switch
    {
        (8, false) => Of<sbyte>("-b"),
        (8, true) => Of<byte>("-b -u"),
        (16, false) => Of<short>("-h"),
        (16, true) => Of<ushort>("-h -u"),
        (32, false) => Of<int>("-i"),
        (32, true) => Of<uint>("-i -u"),
        (64, false) => Of<long>("-l"),
        _ => Of<ulong>("-l -u"),
    };

    /// <summary>The same kind of integer with half the bits and so on: what would need less memory. Null for 8 bits and others.</summary>
    internal ElementType? Narrower => Type == typeof(ulong) ? Of<ushort>("-h -u")
        : Type == typeof(long) ? Of<short>("-h")
        : Type == typeof(uint) ? Of<ushort>("-h -u")
        : Type == typeof(int) ? Of<short>("-h")
        : Type == typeof(double) ? Of<float>("-f")
        : null;
}

/// <summary>A structure of several fields, as a program would keep in an array.</summary>
[StructLayout(LayoutKind.Sequential)]
[SuppressMessage("Performance", "CA1815:Override equals and operator equals on value types", Justification = "None is compared.")]
public struct Employee
{
    /// <summary>Who it is.</summary>
    public Guid Id;

    /// <summary>In what is paid.</summary>
    public decimal Balance;

    /// <summary>In ticks.</summary>
    public long Born;

    /// <summary>A number.</summary>
    public int Department;

    /// <summary>A number.</summary>
    public float Rating;
}
