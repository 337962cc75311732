// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;

namespace Tenure.Bench;

/// <summary>The element type of an array.</summary>
/// <param name="Name">The .NET name.</param>
/// <param name="Type">The type.</param>
/// <param name="Size">The size of an element in bytes.</param>
/// <param name="Option">The option that selects it.</param>
internal sealed record ElementType(string Name, Type Type, int Size, string Option)
{
    internal static ElementType UserDefined { get; } =
        new("Employee", typeof(Employee), Marshal.SizeOf<Employee>(), "--udt");

    /// <summary>Strings of about 40 characters.</summary>
    internal static ElementType Text { get; } = new("String", typeof(string), 120, "-s");

    internal bool IsNumber => Type.IsPrimitive;

    internal static ElementType Of<T>(string option)
        where T : unmanaged => new(typeof(T).Name, typeof(T), Marshal.SizeOf<T>(), option);

    /// <summary>Gets the integer type with a number of bits.</summary>
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

    /// <summary>A narrower integer of the same kind, which needs less memory. Null for 8 bits and other
    /// types.</summary>
    internal ElementType? Narrower => Type == typeof(ulong) ? Of<ushort>("-h -u")
        : Type == typeof(long) ? Of<short>("-h")
        : Type == typeof(uint) ? Of<ushort>("-h -u")
        : Type == typeof(int) ? Of<short>("-h")
        : Type == typeof(double) ? Of<float>("-f")
        : null;
}

/// <summary>A structure with several fields, as a program would keep in an array.</summary>
[StructLayout(LayoutKind.Sequential)]
[SuppressMessage("Performance", "CA1815:Override equals and operator equals on value types", Justification = "None is compared.")]
public struct Employee
{
    /// <summary>The identity.</summary>
    public Guid Id;

    /// <summary>The balance.</summary>
    public decimal Balance;

    /// <summary>The date of birth, in ticks.</summary>
    public long Born;

    /// <summary>The department number.</summary>
    public int Department;

    /// <summary>The department number.</summary>
    public float Rating;
}
