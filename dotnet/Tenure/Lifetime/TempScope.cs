// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>
/// What the calling thread allocates from Temp inside the scope is gone at its end. The compiler sees to it that no
/// span outlives the scope that it is asked of; that this is the innermost one is looked at with every allocation.
/// </summary>
/// <remarks>
/// <para><b>Use it for</b> scratch memory of a function, a job, a frame. <b>Not for</b> what another thread frees or
/// what outlives the scope: <see cref="Lifetime.TempJob"/>, <see cref="Lifetime.Persistent"/>.</para>
/// <para><b>Memory from</b> one address range per thread (option temp_budget_bytes), committed as it grows; past it,
/// TempJob's chunks. <b>Cost</b> allocate O(1), an add and a compare, without a call; the end O(1), O(chunks) when Temp
/// had overflowed. <b>Overhead</b> sizes are rounded up to 16 bytes.</para>
/// <para><b>Threads</b> the one that began it: a ref struct does not leave its stack. <b>When full</b> overflows;
/// throws <see cref="OutOfMemoryException"/> when the system refuses as well.</para>
/// <para>Scopes nest, and only the innermost one allocates: a block lies above the mark of every scope that is open,
/// and would be gone with the innermost one, while a span of an outer one may be kept longer. So an outer scope throws
/// <see cref="InvalidOperationException"/> until those begun inside it have ended, also one that somebody forgot to
/// end. <see cref="Native.Allocate(nuint, Lifetime, nuint)"/> with <see cref="Lifetime.Temp"/> asks no scope: its block
/// goes with the innermost one.</para>
/// <para>Scopes end in reverse order; checked builds of the native library report another one. Inside a scope,
/// <see cref="Native.ResetTemp"/> and <see cref="Native.NextFrame"/> must not be called. A copy is the same scope: only
/// one of them may be disposed.</para>
/// <example><code>
/// using var scope = TempScope.Begin();
/// Span&lt;float&gt; weights = scope.Allocate&lt;float&gt;(1000);
/// </code></example>
/// </remarks>
public unsafe ref struct TempScope : IDisposable
{
    // Whatever has to be called gets these by value: a scope whose address is known to nobody stays in registers.
    private NativeTempState* _state; // null when there is no scope, or no more
    private readonly ulong _cursor;
    private readonly ulong _region;
    private readonly uint _markerDepth; // the native side's, for its own check
    private readonly uint _depth;
    private readonly ref uint _innermost; // the thread's QuickThread.InnermostScope

    /// <summary>Begins a scope on the calling thread.</summary>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public TempScope()
    {
        var state = (NativeTempState*)QuickThread.Temp;
        if (state == null)
        {
            this = BeginByCall();
            return;
        }
        _state = state;
        _cursor = state->Cursor;
        _region = state->Region;
        _innermost = ref QuickThread.InnermostScope;
        _depth = _innermost + 1;
        _innermost = _depth;
    }

    private TempScope(NativeTempState* state, NativeTempMarker marker)
    {
        _state = state;
        _cursor = marker.Cursor;
        _region = marker.Region;
        _markerDepth = (uint)marker.Depth;
        _innermost = ref QuickThread.InnermostScope;
        _depth = _innermost + 1;
        _innermost = _depth;
    }

    /// <summary>Begins a scope on the calling thread.</summary>
    /// <returns>The scope; <c>using</c> ends it.</returns>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static TempScope Begin() => new();

    /// <summary>Allocates elements, not initialised, that are gone at the end of the scope.</summary>
    /// <typeparam name="T">What they are. Its alignment of at most 16 bytes is met.</typeparam>
    /// <param name="count">How many; zero gives an empty span.</param>
    /// <returns>The elements, which cannot be kept past the scope's block.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative.</exception>
    /// <exception cref="OutOfMemoryException">The system refuses; nothing has changed.</exception>
    /// <exception cref="InvalidOperationException">A scope that was begun inside it is open; nothing has
    /// changed.</exception>
    /// <exception cref="ObjectDisposedException">The scope has ended, or never began.</exception>
    [UnscopedRef]
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<T> Allocate<T>(int count)
        where T : unmanaged
    {
        Throw.IfNegative(count);
        return new Span<T>(AllocateBytes((nuint)(uint)count * (nuint)sizeof(T)), count);
    }

    /// <summary>Allocates elements, all zero, that are gone at the end of the scope.</summary>
    /// <typeparam name="T">What they are. Its alignment of at most 16 bytes is met.</typeparam>
    /// <param name="count">How many; zero gives an empty span.</param>
    /// <returns>The elements, which cannot be kept past the scope's block.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative.</exception>
    /// <exception cref="OutOfMemoryException">The system refuses; nothing has changed.</exception>
    /// <exception cref="InvalidOperationException">A scope that was begun inside it is open; nothing has
    /// changed.</exception>
    /// <exception cref="ObjectDisposedException">The scope has ended, or never began.</exception>
    [UnscopedRef]
    public Span<T> AllocateZeroed<T>(int count)
        where T : unmanaged
    {
        Span<T> elements = Allocate<T>(count);
        elements.Clear();
        return elements;
    }

    /// <summary>Allocates memory, not initialised, that is gone at the end of the scope.</summary>
    /// <param name="bytes">How much; zero counts as one.</param>
    /// <param name="alignment">A power of two, in bytes.</param>
    /// <returns>The block's begin. Unlike a span, a pointer can be kept past the scope: it is the caller's
    /// care.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is no power of two.</exception>
    /// <exception cref="OutOfMemoryException">The system refuses; nothing has changed.</exception>
    /// <exception cref="InvalidOperationException">A scope that was begun inside it is open; nothing has
    /// changed.</exception>
    /// <exception cref="ObjectDisposedException">The scope has ended, or never began.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public readonly void* AllocateBytes(nuint bytes, nuint alignment = Native.DefaultAlignment)
    {
        NativeTempState* state = _state;
        if (state != null && alignment == Native.DefaultAlignment && _innermost == _depth)
        {
            ulong cursor = state->Cursor;
            ulong end = QuickThread.EndOf(cursor, bytes);
            if (end <= state->Limit && end > cursor)
            {
                state->Cursor = end;
                return (void*)cursor;
            }
        }
        return AllocateByCall(state, _depth, bytes, alignment);
    }

    /// <summary>Ends the scope: what was allocated from Temp since its begin is gone. A second time does
    /// nothing.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Dispose()
    {
        NativeTempState* state = _state;
        if (state == null)
        {
            return;
        }
        _state = null;
        // Lower already when an outer scope was ended first.
        if (_innermost >= _depth)
        {
            _innermost = _depth - 1;
        }
        // A tag counts what was allocated under it, so under a tag the native side looks at the cursor before it goes back.
        if (state->Region == _region && _cursor != 0 && !QuickThread.HasTag(state))
        {
            // Lower already when a block from before the scope was freed inside it.
            if (_cursor < state->Cursor)
            {
                state->Cursor = _cursor;
            }
            return;
        }
        EndByCall(_cursor, _region, _markerDepth);
    }

    /// <summary>The first scope of a thread, and every one where requests are calls.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static TempScope BeginByCall()
    {
        QuickThread.Attach();
        NativeLibraryCheck.Ensure();
        NativeTempMarker marker;
        NativeMethods.tn_temp_mark(&marker);
        var state = (NativeTempState*)QuickThread.Temp;
        return new TempScope(state != null ? state : QuickThread.NoTemp, marker);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void EndByCall(ulong cursor, ulong region, uint depth)
    {
        var marker = new NativeTempMarker { Cursor = cursor, Region = region, Depth = depth };
        NativeMethods.tn_temp_rewind(&marker);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void* AllocateByCall(NativeTempState* state, uint depth, nuint bytes, nuint alignment)
    {
        if (state == null)
        {
            Throw.Disposed(nameof(TempScope));
        }
        if (QuickThread.InnermostScope != depth)
        {
            ThrowNotInnermost(depth);
        }
        return Native.AllocateFromTemp(bytes, alignment);
    }

    [DoesNotReturn]
    private static void ThrowNotInnermost(uint depth)
    {
        uint innermost = QuickThread.InnermostScope;
        throw new InvalidOperationException(innermost < depth
            ? "A TempScope that this one was begun in has ended, and all that was allocated since with it. Next step: "
                + "end scopes in the reverse order of their beginning."
            : $"It is not the innermost TempScope: {innermost - depth} begun inside it "
                + $"{(innermost - depth == 1 ? "is" : "are")} open, and what is allocated now would be gone at the end of "
                + "that. Next step: allocate before the inner scope begins, or from the inner one.");
    }
}
