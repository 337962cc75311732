// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure;

public static unsafe partial class Native
{
    /// <summary>Allocates elements, not initialised.</summary>
    /// <typeparam name="T">What they are. An alignment of at most 16 bytes is met.</typeparam>
    /// <param name="count">How many; zero counts as one.</param>
    /// <param name="lifetime">How long they are held.</param>
    /// <returns>The first one; give it back with <see cref="Deallocate(void*, Lifetime)"/>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The lifetime is none.</exception>
    /// <exception cref="OutOfMemoryException">The system refuses, or so many bytes cannot be; nothing has
    /// changed.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static T* Allocate<T>(nuint count, Lifetime lifetime)
        where T : unmanaged
    {
        // As C: a product that overflows is refused as the largest size is.
        nuint bytes = count > nuint.MaxValue / (nuint)sizeof(T) ? nuint.MaxValue : count * (nuint)sizeof(T);
        return (T*)Allocate(bytes, lifetime);
    }

    /// <summary>Allocates elements, not initialised.</summary>
    /// <remarks>The span does not own them, and nothing keeps it from being used after they were given back.</remarks>
    /// <typeparam name="T">What they are. An alignment of at most 16 bytes is met.</typeparam>
    /// <param name="count">How many; zero gives a span without elements that is given back all the same.</param>
    /// <param name="lifetime">How long they are held.</param>
    /// <returns>The elements; give them back with <see cref="Deallocate{T}(Span{T}, Lifetime)"/>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative, or the lifetime is none.</exception>
    /// <exception cref="OutOfMemoryException">The system refuses; nothing has changed.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Span<T> AllocateSpan<T>(int count, Lifetime lifetime)
        where T : unmanaged
    {
        Throw.IfNegative(count);
        return new Span<T>(Allocate((nuint)(uint)count * (nuint)sizeof(T), lifetime), count);
    }

    /// <summary>Allocates elements, all zero.</summary>
    /// <typeparam name="T">What they are. An alignment of at most 16 bytes is met.</typeparam>
    /// <param name="count">How many; zero gives a span without elements that is given back all the same.</param>
    /// <param name="lifetime">How long they are held.</param>
    /// <returns>The elements; give them back with <see cref="Deallocate{T}(Span{T}, Lifetime)"/>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative, or the lifetime is none.</exception>
    /// <exception cref="OutOfMemoryException">The system refuses; nothing has changed.</exception>
    public static Span<T> AllocateZeroedSpan<T>(int count, Lifetime lifetime)
        where T : unmanaged
    {
        Throw.IfNegative(count);
        return new Span<T>(AllocateZeroed((nuint)(uint)count * (nuint)sizeof(T), lifetime), count);
    }

    /// <summary>Gives elements back. A span of nowhere does nothing.</summary>
    /// <typeparam name="T">What they are.</typeparam>
    /// <param name="elements">As they were allocated: whole, not a slice, and not deallocated since.</param>
    /// <param name="lifetime">What they were allocated with.</param>
    /// <exception cref="ArgumentOutOfRangeException">The lifetime is none.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Deallocate<T>(Span<T> elements, Lifetime lifetime)
        where T : unmanaged
    {
        void* block = Unsafe.AsPointer(ref MemoryMarshal.GetReference(elements));
        Deallocate(block, (nuint)(uint)elements.Length * (nuint)sizeof(T), lifetime);
    }
}
