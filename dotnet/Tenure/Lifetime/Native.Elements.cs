// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure;

public static unsafe partial class Native
{
    /// <summary>Allocates uninitialized elements.</summary>
    /// <typeparam name="T">The element type. Alignments of up to 16 bytes are met.</typeparam>
    /// <param name="count">The number of elements; zero counts as one.</param>
    /// <param name="lifetime">How long the elements are held.</param>
    /// <returns>The first element; free it with <see cref="Deallocate(void*, Lifetime)"/>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The lifetime is not valid.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory, or the size in bytes overflows; nothing has
    /// changed.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static T* Allocate<T>(nuint count, Lifetime lifetime)
        where T : unmanaged
    {
        // As in C, a product that overflows fails as the largest size does.
        nuint bytes = count > nuint.MaxValue / (nuint)sizeof(T) ? nuint.MaxValue : count * (nuint)sizeof(T);
        return (T*)Allocate(bytes, lifetime);
    }

    /// <summary>Allocates uninitialized elements.</summary>
    /// <remarks>The span does not own the elements, and nothing prevents use after free.</remarks>
    /// <typeparam name="T">The element type. Alignments of up to 16 bytes are met.</typeparam>
    /// <param name="count">The number of elements; zero returns an empty span, which must still be deallocated.</param>
    /// <param name="lifetime">How long the elements are held.</param>
    /// <returns>The elements; free them with <see cref="Deallocate{T}(Span{T}, Lifetime)"/>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative, or the lifetime is not valid.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Span<T> AllocateSpan<T>(int count, Lifetime lifetime)
        where T : unmanaged
    {
        Throw.IfNegative(count);
        return new Span<T>(Allocate((nuint)(uint)count * (nuint)sizeof(T), lifetime), count);
    }

    /// <summary>Allocates zeroed elements.</summary>
    /// <typeparam name="T">The element type. Alignments of up to 16 bytes are met.</typeparam>
    /// <param name="count">The number of elements; zero returns an empty span, which must still be deallocated.</param>
    /// <param name="lifetime">How long the elements are held.</param>
    /// <returns>The elements; free them with <see cref="Deallocate{T}(Span{T}, Lifetime)"/>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative, or the lifetime is not valid.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    public static Span<T> AllocateZeroedSpan<T>(int count, Lifetime lifetime)
        where T : unmanaged
    {
        Throw.IfNegative(count);
        return new Span<T>(AllocateZeroed((nuint)(uint)count * (nuint)sizeof(T), lifetime), count);
    }

    /// <summary>Frees elements. A default span is allowed and does nothing.</summary>
    /// <typeparam name="T">The element type.</typeparam>
    /// <param name="elements">The whole span as it was allocated, not a slice, and not deallocated since.</param>
    /// <param name="lifetime">The lifetime that the elements were allocated with.</param>
    /// <exception cref="ArgumentOutOfRangeException">The lifetime is not valid.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Deallocate<T>(Span<T> elements, Lifetime lifetime)
        where T : unmanaged
    {
        void* block = Unsafe.AsPointer(ref MemoryMarshal.GetReference(elements));
        Deallocate(block, (nuint)(uint)elements.Length * (nuint)sizeof(T), lifetime);
    }
}
