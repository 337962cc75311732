// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>
/// Scratch memory on the thread's second stack of Temp, freed when the scope ends. What the caller allocates in its
/// <see cref="TempScope"/> meanwhile is on the first stack and stays.
/// </summary>
/// <remarks>
/// <para><b>Use it for</b> scratch memory of a function that also appends to a <see cref="TempList{T}"/> or another
/// result of its caller in Temp: inside a <see cref="TempScope"/> of its own, the list could not grow. <b>Not for</b>
/// functions that return nothing in Temp: a <see cref="TempScope"/> costs less.</para>
/// <para><b>Memory from</b> a range of addresses of its own for each thread, reserved at the first scope (option
/// temp_budget_bytes); beyond it, TempJob's chunks. <b>Cost</b> one native call each to begin, to allocate and to end.
/// <b>Overhead</b> sizes are rounded up to 16 bytes.</para>
/// <para><b>Threads</b> the thread that began it: a ref struct cannot leave its stack, and the compiler refuses one that
/// is alive across an <c>await</c>. <b>When full</b> as <see cref="TempScope"/>.</para>
/// <para>Scopes nest, and only the innermost one allocates. They end in reverse order. Inside a scope, do not call
/// <see cref="Native.ResetTemp"/> or <see cref="Native.NextFrame"/>. A copy is the same scope: dispose only one of
/// them.</para>
/// <example><code>
/// static void AppendWords(ReadOnlySpan&lt;char&gt; text, ref TempList&lt;int&gt; into)
/// {
///     using var scratch = ScratchScope.Begin();
///     Span&lt;char&gt; letters = scratch.Allocate&lt;char&gt;(text.Length);
/// </code></example>
/// </remarks>
public unsafe ref struct ScratchScope : IDisposable
{
    [ThreadStatic]
    private static uint _openScopes;

    private NativeScratchScope _native;
    private readonly uint _stack;
    private uint _depth; // zero before the scope begins and after it ends

    /// <summary>Begins a scope on the calling thread.</summary>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public ScratchScope()
    {
        NativeLibraryCheck.Ensure();
        NativeScratchScope begun;
        _stack = NativeMethods.tn_scratch_begin(&begun, NativeMethods.TempFirst);
        _native = begun;
        _depth = ++_openScopes;
    }

    /// <summary>Begins a scope on the calling thread.</summary>
    /// <returns>The scope; a <c>using</c> statement ends it.</returns>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static ScratchScope Begin() => new();

    /// <summary>Allocates uninitialized elements that are freed at the end of the scope.</summary>
    /// <typeparam name="T">The element type. Its alignment of up to 16 bytes is met.</typeparam>
    /// <param name="count">The number of elements; zero returns an empty span.</param>
    /// <returns>The elements, which cannot be kept beyond the scope's block.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="InvalidOperationException">A scope begun inside this one is still open; nothing has
    /// changed.</exception>
    /// <exception cref="ObjectDisposedException">The scope has ended or never began.</exception>
    [UnscopedRef]
    public Span<T> Allocate<T>(int count)
        where T : unmanaged
    {
        Throw.IfNegative(count);
        return new Span<T>(AllocateBytes((nuint)(uint)count * (nuint)sizeof(T)), count);
    }

    /// <summary>Allocates zeroed elements that are freed at the end of the scope.</summary>
    /// <typeparam name="T">The element type. Its alignment of up to 16 bytes is met.</typeparam>
    /// <param name="count">The number of elements; zero returns an empty span.</param>
    /// <returns>The elements, which cannot be kept beyond the scope's block.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="InvalidOperationException">A scope begun inside this one is still open; nothing has
    /// changed.</exception>
    /// <exception cref="ObjectDisposedException">The scope has ended or never began.</exception>
    [UnscopedRef]
    public Span<T> AllocateZeroed<T>(int count)
        where T : unmanaged
    {
        Span<T> elements = Allocate<T>(count);
        elements.Clear();
        return elements;
    }

    /// <summary>Allocates uninitialized memory that is freed at the end of the scope.</summary>
    /// <param name="bytes">The size in bytes; zero counts as one.</param>
    /// <param name="alignment">The alignment in bytes, a power of two.</param>
    /// <returns>The block. Unlike a span, a pointer can be kept beyond the scope; the caller must not use it
    /// there.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is not a power of two.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="InvalidOperationException">A scope begun inside this one is still open; nothing has
    /// changed.</exception>
    /// <exception cref="ObjectDisposedException">The scope has ended or never began.</exception>
    public readonly void* AllocateBytes(nuint bytes, nuint alignment = Native.DefaultAlignment)
    {
        if (_depth == 0 || _depth != _openScopes)
        {
            ThrowNotAllocating(_depth);
        }
        Throw.UnlessPowerOfTwo(alignment);
        void* block = NativeMethods.tn_temp_stack_allocate(_stack, bytes, alignment);
        if (block == null)
        {
            Throw.Refused(bytes, "The second stack of Temp");
        }
        return block;
    }

    /// <summary>Ends the scope and frees everything allocated from it. A second call does nothing.</summary>
    public void Dispose()
    {
        if (_depth == 0)
        {
            return;
        }
        if (_openScopes >= _depth) // it is already lower if an outer scope ended first
        {
            _openScopes = _depth - 1;
        }
        _depth = 0;
        NativeScratchScope begun = _native;
        NativeMethods.tn_scratch_end(&begun);
    }

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ThrowNotAllocating(uint depth)
    {
        if (depth == 0)
        {
            throw new ObjectDisposedException(nameof(ScratchScope), "The scope has ended or never began. Begin one with ScratchScope.Begin().");
        }
        throw new InvalidOperationException(_openScopes < depth
            ? "An outer ScratchScope has ended, which freed everything allocated since it began. "
                + "End scopes in the reverse order of their beginning."
            : "This is not the innermost ScratchScope: the end of one begun inside it would free this allocation. "
                + "Allocate before the inner scope begins, or from the inner scope.");
    }
}
