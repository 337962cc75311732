// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Tenure;

/// <summary>Sums and dot products of integers in 64 bits, modulo 2^64. The order of additions does not
/// matter.</summary>
/// <remarks>Narrow types are added in lanes of two or four times their size, for as many vectors as cannot overflow. T
/// is a signed or an unsigned type, and the result has the bits of a long or a ulong.</remarks>
internal static unsafe class VectorIntegerSums
{
    internal static ulong Sum<T>(T* from, nuint count)
        where T : unmanaged, INumber<T>
    {
        nuint lanes = (nuint)Vector<T>.Count, vectors = count / lanes;
        ulong sum = 0;
        if (typeof(T) == typeof(byte))
        {
            sum = Bytes((byte*)from, vectors);
        }
        else if (typeof(T) == typeof(sbyte))
        {
            sum = SignedBytes((sbyte*)from, vectors);
        }
        else if (typeof(T) == typeof(ushort))
        {
            sum = Shorts((ushort*)from, vectors);
        }
        else if (typeof(T) == typeof(short))
        {
            sum = SignedShorts((short*)from, vectors);
        }
        else if (typeof(T) == typeof(uint))
        {
            Vector<ulong> a = default, b = default;
            for (nuint i = 0; i < vectors; i++)
            {
                Vector.Widen(Vector.Load((uint*)from + i * lanes), out Vector<ulong> low, out Vector<ulong> high);
                a += low;
                b += high;
            }
            sum = Vector.Sum(a + b);
        }
        else if (typeof(T) == typeof(int))
        {
            Vector<long> a = default, b = default;
            for (nuint i = 0; i < vectors; i++)
            {
                Vector.Widen(Vector.Load((int*)from + i * lanes), out Vector<long> low, out Vector<long> high);
                a += low;
                b += high;
            }
            sum = (ulong)Vector.Sum(a + b);
        }
        else
        {
            Vector<ulong> a = default, b = default, c = default, d = default;
            ulong* x = (ulong*)from;
            nuint i = 0;
            for (; i + 4 <= vectors; i += 4, x += 4 * lanes)
            {
                a += Vector.Load(x);
                b += Vector.Load(x + lanes);
                c += Vector.Load(x + 2 * lanes);
                d += Vector.Load(x + 3 * lanes);
            }
            for (; i < vectors; i++, x += lanes)
            {
                a += Vector.Load(x);
            }
            sum = Vector.Sum(a + b + c + d);
        }
        for (nuint i = vectors * lanes; i < count; i++)
        {
            sum += Wide(from[i]);
        }
        return sum;
    }

    internal static ulong Dot<T>(T* left, T* right, nuint count)
        where T : unmanaged, INumber<T>
    {
        nuint lanes = (nuint)Vector<T>.Count, vectors = count / lanes;
        ulong sum = 0;
        if (typeof(T) == typeof(byte))
        {
            sum = DotBytes((byte*)left, (byte*)right, vectors);
        }
        else if (typeof(T) == typeof(sbyte))
        {
            sum = DotSignedBytes((sbyte*)left, (sbyte*)right, vectors);
        }
        else if (typeof(T) == typeof(ushort))
        {
            Vector<ulong> a = default, b = default;
            for (nuint i = 0; i < vectors; i++)
            {
                Vector.Widen(Vector.Load((ushort*)left + i * lanes), out Vector<uint> l0, out Vector<uint> l1);
                Vector.Widen(Vector.Load((ushort*)right + i * lanes), out Vector<uint> r0, out Vector<uint> r1);
                Vector.Widen(l0 * r0, out Vector<ulong> p0, out Vector<ulong> p1);
                Vector.Widen(l1 * r1, out Vector<ulong> p2, out Vector<ulong> p3);
                a += p0 + p1;
                b += p2 + p3;
            }
            sum = Vector.Sum(a + b);
        }
        else if (typeof(T) == typeof(short))
        {
            Vector<long> a = default, b = default;
            for (nuint i = 0; i < vectors; i++)
            {
                Vector.Widen(Vector.Load((short*)left + i * lanes), out Vector<int> l0, out Vector<int> l1);
                Vector.Widen(Vector.Load((short*)right + i * lanes), out Vector<int> r0, out Vector<int> r1);
                Vector.Widen(l0 * r0, out Vector<long> p0, out Vector<long> p1);
                Vector.Widen(l1 * r1, out Vector<long> p2, out Vector<long> p3);
                a += p0 + p1;
                b += p2 + p3;
            }
            sum = (ulong)Vector.Sum(a + b);
        }
        else if (typeof(T) == typeof(uint))
        {
            Vector<ulong> a = default, b = default;
            for (nuint i = 0; i < vectors; i++)
            {
                Vector<ulong> x = Vector.Load((uint*)left + i * lanes).As<uint, ulong>();
                Vector<ulong> y = Vector.Load((uint*)right + i * lanes).As<uint, ulong>();
                a += LowProduct(x, y);
                b += LowProduct(x >> 32, y >> 32);
            }
            sum = Vector.Sum(a + b);
        }
        else if (typeof(T) == typeof(int))
        {
            Vector<long> a = default, b = default;
            for (nuint i = 0; i < vectors; i++)
            {
                Vector<long> x = Vector.Load((int*)left + i * lanes).As<int, long>();
                Vector<long> y = Vector.Load((int*)right + i * lanes).As<int, long>();
                a += LowProduct(x, y);
                b += LowProduct(x >>> 32, y >>> 32);
            }
            sum = (ulong)Vector.Sum(a + b);
        }
        else
        {
            Vector<ulong> a = default, b = default, c = default, d = default;
            ulong* x = (ulong*)left, y = (ulong*)right;
            nuint i = 0;
            for (; i + 4 <= vectors; i += 4, x += 4 * lanes, y += 4 * lanes)
            {
                a += Vector.Load(x) * Vector.Load(y);
                b += Vector.Load(x + lanes) * Vector.Load(y + lanes);
                c += Vector.Load(x + 2 * lanes) * Vector.Load(y + 2 * lanes);
                d += Vector.Load(x + 3 * lanes) * Vector.Load(y + 3 * lanes);
            }
            for (; i < vectors; i++, x += lanes, y += lanes)
            {
                a += Vector.Load(x) * Vector.Load(y);
            }
            sum = Vector.Sum(a + b + c + d);
        }
        for (nuint i = vectors * lanes; i < count; i++)
        {
            sum += Wide(left[i]) * Wide(right[i]);
        }
        return sum;
    }

    /// <summary>Extends the value to 64 bits with its sign.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Wide<T>(T value)
        where T : unmanaged, INumber<T> => ulong.CreateTruncating(value);

    /// <summary>Multiplies the lower halves of the lanes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector<ulong> LowProduct(Vector<ulong> left, Vector<ulong> right)
    {
        if (Avx2.IsSupported && Vector<byte>.Count == 32)
        {
            return Avx2.Multiply(left.AsVector256().AsUInt32(), right.AsVector256().AsUInt32()).AsVector();
        }
        return (left & new Vector<ulong>(uint.MaxValue)) * (right & new Vector<ulong>(uint.MaxValue));
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector<long> LowProduct(Vector<long> left, Vector<long> right)
    {
        if (Avx2.IsSupported && Vector<byte>.Count == 32)
        {
            return Avx2.Multiply(left.AsVector256().AsInt32(), right.AsVector256().AsInt32()).AsVector();
        }
        return ((left << 32) >> 32) * ((right << 32) >> 32);
    }

    private static ulong Bytes(byte* from, nuint vectors)
    {
        Vector<ulong> whole = default;
        while (vectors != 0)
        {
            Vector<ushort> a = default, b = default;
            nuint taken = nuint.Min(vectors, 256); // 256 * 255 < 2^16
            for (nuint i = 0; i < taken; i++, from += Vector<byte>.Count)
            {
                Vector.Widen(Vector.Load(from), out Vector<ushort> low, out Vector<ushort> high);
                a += low;
                b += high;
            }
            vectors -= taken;
            Vector.Widen(a, out Vector<uint> a0, out Vector<uint> a1);
            Vector.Widen(b, out Vector<uint> b0, out Vector<uint> b1);
            Vector.Widen(a0 + a1 + b0 + b1, out Vector<ulong> w0, out Vector<ulong> w1);
            whole += w0 + w1;
        }
        return Vector.Sum(whole);
    }

    private static ulong SignedBytes(sbyte* from, nuint vectors)
    {
        Vector<long> whole = default;
        while (vectors != 0)
        {
            Vector<short> a = default, b = default;
            nuint taken = nuint.Min(vectors, 255); // 255 * -128 > -2^15
            for (nuint i = 0; i < taken; i++, from += Vector<sbyte>.Count)
            {
                Vector.Widen(Vector.Load(from), out Vector<short> low, out Vector<short> high);
                a += low;
                b += high;
            }
            vectors -= taken;
            Vector.Widen(a, out Vector<int> a0, out Vector<int> a1);
            Vector.Widen(b, out Vector<int> b0, out Vector<int> b1);
            Vector.Widen(a0 + a1 + b0 + b1, out Vector<long> w0, out Vector<long> w1);
            whole += w0 + w1;
        }
        return (ulong)Vector.Sum(whole);
    }

    private static ulong Shorts(ushort* from, nuint vectors)
    {
        Vector<ulong> whole = default;
        while (vectors != 0)
        {
            Vector<uint> a = default, b = default;
            nuint taken = nuint.Min(vectors, 1 << 15); // 2^15 values < 2^16 per lane; a + b <= 2^32 - 1
            for (nuint i = 0; i < taken; i++, from += Vector<ushort>.Count)
            {
                Vector.Widen(Vector.Load(from), out Vector<uint> low, out Vector<uint> high);
                a += low;
                b += high;
            }
            vectors -= taken;
            Vector.Widen(a + b, out Vector<ulong> w0, out Vector<ulong> w1);
            whole += w0 + w1;
        }
        return Vector.Sum(whole);
    }

    private static ulong SignedShorts(short* from, nuint vectors)
    {
        Vector<long> whole = default;
        while (vectors != 0)
        {
            Vector<int> a = default, b = default;
            nuint taken = nuint.Min(vectors, 1 << 15); // 2^15 values >= -2^15 per lane; a + b >= -2^31
            for (nuint i = 0; i < taken; i++, from += Vector<short>.Count)
            {
                Vector.Widen(Vector.Load(from), out Vector<int> low, out Vector<int> high);
                a += low;
                b += high;
            }
            vectors -= taken;
            Vector.Widen(a + b, out Vector<long> w0, out Vector<long> w1);
            whole += w0 + w1;
        }
        return (ulong)Vector.Sum(whole);
    }

    private static ulong DotBytes(byte* left, byte* right, nuint vectors)
    {
        Vector<ulong> whole = default;
        while (vectors != 0)
        {
            Vector<uint> a = default, b = default;
            nuint taken = nuint.Min(vectors, 1 << 14); // four products below 2^16 in each round
            for (nuint i = 0; i < taken; i++, left += Vector<byte>.Count, right += Vector<byte>.Count)
            {
                Vector.Widen(Vector.Load(left), out Vector<ushort> l0, out Vector<ushort> l1);
                Vector.Widen(Vector.Load(right), out Vector<ushort> r0, out Vector<ushort> r1);
                Vector.Widen(l0 * r0, out Vector<uint> p0, out Vector<uint> p1);
                Vector.Widen(l1 * r1, out Vector<uint> p2, out Vector<uint> p3);
                a += p0 + p1;
                b += p2 + p3;
            }
            vectors -= taken;
            Vector.Widen(a, out Vector<ulong> w0, out Vector<ulong> w1);
            Vector.Widen(b, out Vector<ulong> w2, out Vector<ulong> w3);
            whole += w0 + w1 + w2 + w3;
        }
        return Vector.Sum(whole);
    }

    private static ulong DotSignedBytes(sbyte* left, sbyte* right, nuint vectors)
    {
        Vector<long> whole = default;
        while (vectors != 0)
        {
            Vector<int> a = default, b = default;
            nuint taken = nuint.Min(vectors, 1 << 14); // two products of at most 2^14 in each lane and round
            for (nuint i = 0; i < taken; i++, left += Vector<sbyte>.Count, right += Vector<sbyte>.Count)
            {
                Vector.Widen(Vector.Load(left), out Vector<short> l0, out Vector<short> l1);
                Vector.Widen(Vector.Load(right), out Vector<short> r0, out Vector<short> r1);
                Vector.Widen(l0 * r0, out Vector<int> p0, out Vector<int> p1);
                Vector.Widen(l1 * r1, out Vector<int> p2, out Vector<int> p3);
                a += p0 + p1;
                b += p2 + p3;
            }
            vectors -= taken;
            Vector.Widen(a, out Vector<long> w0, out Vector<long> w1);
            Vector.Widen(b, out Vector<long> w2, out Vector<long> w3);
            whole += w0 + w1 + w2 + w3;
        }
        return (ulong)Vector.Sum(whole);
    }
}
