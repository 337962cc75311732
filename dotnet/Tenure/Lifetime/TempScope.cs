// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>
/// Frees the calling thread's Temp allocations when the scope ends. The compiler ensures that no span outlives the
/// scope that allocated it; each allocation checks that this scope is the innermost one.
/// </summary>
/// <remarks>
/// <para><b>Use it for</b> scratch memory of a function, a job, a frame. <b>Not for</b> memory that another thread
/// frees or that outlives the scope: see <see cref="Lifetime.TempJob"/>, <see cref="Lifetime.Persistent"/>.</para>
/// <para><b>Memory from</b> one address range per thread (option temp_budget_bytes), committed as it grows; beyond it,
/// TempJob's chunks. <b>Cost</b> allocate O(1): an add and a compare, without a native call; end O(1), or O(chunks)
/// after an overflow. <b>Overhead</b> sizes are rounded up to 16 bytes.</para>
/// <para><b>Threads</b> the thread that began it: a ref struct cannot leave its stack. <b>When full</b> overflows into
/// TempJob's chunks; throws <see cref="OutOfMemoryException"/> if the system is out of memory.</para>
/// <para>Scopes nest, and only the innermost one allocates. An outer scope throws
/// <see cref="InvalidOperationException"/> until all scopes begun inside it have ended, including one that was never
/// disposed: the end of the innermost scope would free the block, while the compiler lets its span live as long as the
/// outer scope. <see cref="Native.Allocate(nuint, Lifetime, nuint)"/> with <see cref="Lifetime.Temp"/> does not check
/// scopes: the innermost scope frees its block.</para>
/// <para>Scopes end in reverse order; checked builds of the native library report any other order. Inside a scope, do
/// not call <see cref="Native.ResetTemp"/> or <see cref="Native.NextFrame"/>. A copy is the same scope: dispose only
/// one of them.</para>
/// <example><code>
/// using var scope = TempScope.Begin();
/// Span&lt;float&gt; weights = scope.Allocate&lt;float&gt;(1000);
/// </code></example>
/// </remarks>
public unsafe ref struct TempScope : IDisposable
{
    // Native calls get these fields by value: a scope whose address is never taken stays in registers.
    private NativeTempState* _state; // null before the scope begins and after it ends
    private readonly ulong _cursor;
    private readonly ulong _region;
    private readonly ulong _markerDepth; // the native depth, for the native check
    private readonly uint _depth;
    private readonly ref uint _innermost; // the thread's QuickThread.InnermostScope

    /// <summary>Begins a scope on the calling thread.</summary>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
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
        _markerDepth = marker.Depth;
        _innermost = ref QuickThread.InnermostScope;
        _depth = _innermost + 1;
        _innermost = _depth;
    }

    /// <summary>Begins a scope on the calling thread.</summary>
    /// <returns>The scope; a <c>using</c> statement ends it.</returns>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static TempScope Begin() => new();

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
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
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

    /// <summary>Creates a growable list that is freed at the end of the scope.</summary>
    /// <typeparam name="T">The type of the elements.</typeparam>
    /// <param name="capacity">The number of elements that fit without growing.</param>
    /// <returns>The list, which cannot be kept beyond the scope's block.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The capacity is negative.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory.</exception>
    /// <exception cref="InvalidOperationException">A scope begun inside this one is still open; nothing has
    /// changed.</exception>
    /// <exception cref="ObjectDisposedException">The scope has ended or never began.</exception>
    [UnscopedRef]
    public readonly TempList<T> CreateList<T>(int capacity = 0)
        where T : unmanaged => new(this, capacity);

    /// <summary>Creates a growable list whose elements do not move. It is freed at the end of the scope.</summary>
    /// <typeparam name="T">The type of the elements.</typeparam>
    /// <param name="chunkCapacity">The number of elements per chunk, rounded up to a power of two, at most 2^30. Zero
    /// means chunks of 8 KiB, or of one element if that is larger.</param>
    /// <returns>The list, which cannot be kept beyond the scope's block.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The chunk capacity is out of range.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="InvalidOperationException">A scope begun inside this one is still open; nothing has
    /// changed.</exception>
    /// <exception cref="ObjectDisposedException">The scope has ended or never began.</exception>
    [UnscopedRef]
    public readonly TempChunkedList<T> CreateChunkedList<T>(int chunkCapacity = 0)
        where T : unmanaged => new(this, chunkCapacity);

    /// <summary>Creates a builder of UTF-8 text that grows in Temp and is freed at the end of the scope.</summary>
    /// <param name="capacity">The number of bytes that fit without growing.</param>
    /// <returns>The builder, which cannot be kept beyond the scope's block.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The capacity is negative.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="InvalidOperationException">A scope begun inside this one is still open; nothing has
    /// changed.</exception>
    /// <exception cref="ObjectDisposedException">The scope has ended or never began.</exception>
    [UnscopedRef]
    public readonly Utf8Builder CreateUtf8Builder(int capacity = Utf8Builder.DefaultCapacity) => new(this, capacity);

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

    /// <summary>Ends the scope and frees everything allocated from Temp since it began. A second call does
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
        // It is already lower if an outer scope ended first.
        if (_innermost >= _depth)
        {
            _innermost = _depth - 1;
        }
        // A tag counts the allocations made under it, so with a tag set the native code reads the cursor before
        // rewinding it.
        if (state->Region == _region && _cursor != 0 && !QuickThread.HasTag(state))
        {
            // It is already lower if a block from before the scope was freed inside it.
            if (_cursor < state->Cursor)
            {
                state->Cursor = _cursor;
            }
            return;
        }
        EndByCall(_cursor, _region, _markerDepth);
    }

    /// <summary>Requires that this scope may allocate.</summary>
    internal readonly void ThrowUnlessInnermost()
    {
        if (_state == null || _innermost != _depth)
        {
            ThrowNotAllocating(_state, _depth);
        }
    }

    /// <summary>The number of scopes open on the thread, this one included.</summary>
    internal readonly uint Depth => _depth;

    /// <summary>Requires that a scope of this depth may allocate.</summary>
    internal static void ThrowUnlessInnermost(uint depth)
    {
        if (QuickThread.InnermostScope != depth)
        {
            ThrowNotAllocating(QuickThread.NoTemp, depth);
        }
    }

    /// <summary>Begins the first scope of a thread, and every scope where the quick paths are not available.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static TempScope BeginByCall()
    {
        QuickThread.Attach();
        NativeLibraryCheck.Ensure();
        NativeTempMarker marker;
        NativeMethods.tn_temp_begin(&marker);
        var state = (NativeTempState*)QuickThread.Temp;
        return new TempScope(state != null ? state : QuickThread.NoTemp, marker);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void EndByCall(ulong cursor, ulong region, ulong depth)
    {
        var marker = new NativeTempMarker { Cursor = cursor, Region = region, Depth = depth };
        NativeMethods.tn_temp_end(&marker);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void* AllocateByCall(NativeTempState* state, uint depth, nuint bytes, nuint alignment)
    {
        if (state == null || QuickThread.InnermostScope != depth)
        {
            ThrowNotAllocating(state, depth);
        }
        return Native.AllocateFromTemp(bytes, alignment);
    }

    [DoesNotReturn]
    private static void ThrowNotAllocating(NativeTempState* state, uint depth)
    {
        if (state == null)
        {
            throw new ObjectDisposedException(nameof(TempScope), "The scope has ended or never began. Begin one with TempScope.Begin().");
        }
        uint innermost = QuickThread.InnermostScope;
        throw new InvalidOperationException(innermost < depth
            ? "An outer TempScope has ended, which freed everything allocated since it began. "
                + "End scopes in the reverse order of their beginning."
            : $"This is not the innermost TempScope: {innermost - depth} begun inside it "
                + $"{(innermost - depth == 1 ? "is" : "are")} open, and the end of the innermost one would free "
                + "this allocation. Allocate before the inner scope begins, or from the inner scope.");
    }
}
