// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>Native memory owned by an object: the common base of <see cref="SafeBuffer{T}"/> and
/// <see cref="HugeBuffer{T}"/>.</summary>
/// <remarks>
/// <para>Dispose of the buffer when done. Otherwise the memory is freed when the garbage collector finalizes the object
/// (<see cref="Leaks.CollectedCount"/>). That can take long, because the collector sees only a small object and not the
/// memory behind it.</para>
/// <para>The only count of holds is that of the handle. Disposing of a held buffer throws; a second disposal does
/// nothing. <see cref="SafeHandle.DangerousAddRef"/> uses a different count and does not keep the memory: use
/// <see cref="Acquire"/>.</para>
/// <para>A reference, a span or a <c>fixed</c> pointer taken from the buffer neither keeps the object alive nor holds
/// the memory. Take a lease, which does both.</para>
/// <para>Threads: any. A field shared by threads is one word and is never read torn, unlike one of type
/// <see cref="FixedBuffer{T}"/>. The check and the access are two steps, and a free on another thread between them is
/// not detected: hold the memory (<see cref="Acquire"/>, a lease) where another thread may free it.</para>
/// </remarks>
/// <typeparam name="T">The type of the elements: any unmanaged type.</typeparam>
[DebuggerDisplay("{DebuggerText,nq}")]
[DebuggerTypeProxy(typeof(OwnedBufferDebugView<>))]
public abstract unsafe partial class OwnedBuffer<T> : SafeHandle, IEnumerable<T>, IRetainable
    where T : unmanaged
{
    // Indexers read the fields one by one. Taking the address of the view instead would cost a null check.
    private protected readonly BufferView<T> _view;

    private protected OwnedBuffer(BufferView<T> view)
        : base(0, ownsHandle: true)
    {
        _view = view;
        SetHandle((nint)view.Pointer);
    }

    /// <summary>Gets the elements and the handle.</summary>
    internal ref readonly BufferView<T> View
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => ref _view;
    }

    /// <summary>Gets the size of the elements in bytes.</summary>
    public long Size => _view.Size;

    /// <summary>Gets a value that indicates whether the memory was freed.</summary>
    public override bool IsInvalid => !_view.IsLive;

    /// <summary>Gets a value that indicates whether the memory is live.</summary>
    public bool IsValid => _view.IsLive;

    /// <summary>Gets the number of holds, 0 to 2^31 - 1.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public int RefCount
    {
        get
        {
            _view.ThrowIfStale();
            return HandleWords.Holders(_view.Word, _view.Generation);
        }
    }

    /// <summary>Gets a value that indicates whether the memory is held and therefore cannot be freed.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public bool IsRetained => RefCount != 0;

    /// <summary>Gets the handle that accesses are checked against, for native code and for listings.</summary>
    public NativeHandle Handle => _view.Handle;

    /// <summary>Holds the memory: it cannot be freed until <see cref="Release()"/> is called.</summary>
    /// <returns>Always true.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="InvalidOperationException">The memory is already held 2^31 - 1 times.</exception>
    public bool Acquire()
    {
        HandleWords.Acquire(_view.Word, _view.Generation);
        return true;
    }

    /// <summary>Holds the memory. Same as <see cref="Acquire"/>.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="InvalidOperationException">The memory is already held 2^31 - 1 times.</exception>
    public void Retain() => Acquire();

    /// <summary>Releases one hold.</summary>
    /// <returns>Always true.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="InvalidOperationException">All holds were already released; nothing has changed.</exception>
    public bool Release()
    {
        HandleWords.Release(_view.Word, _view.Generation);
        return true;
    }

    /// <summary>Frees the memory. A second call throws; <see cref="SafeHandle.Dispose()"/> then does nothing.</summary>
    /// <returns>Always true.</returns>
    /// <exception cref="ObjectDisposedException">The memory was already freed.</exception>
    /// <exception cref="InvalidOperationException">The memory is held; the message gives the number of holds. Nothing
    /// has changed.</exception>
    public bool Free()
    {
        HandleMemory.Free(_view.Word, _view.Generation);
        SetHandleAsInvalid();
        return true;
    }

    /// <summary>Frees the memory if it was not freed before. Throws when the memory is held, also at the end of a
    /// <c>using</c>: end leases and release holds first.</summary>
    /// <param name="disposing">False when called from a finalizer, which does not free held memory.</param>
    /// <exception cref="InvalidOperationException">The memory is held; the message gives the number of holds. Nothing
    /// has changed.</exception>
    protected override void Dispose(bool disposing)
    {
        // Free here and not in ReleaseHandle: exceptions thrown there are lost, and the check for holds and the free
        // must be one step.
        if (disposing)
        {
            HandleMemory.TryFree(_view.Word, _view.Generation);
            SetHandleAsInvalid();
        }
        base.Dispose(disposing);
    }

    /// <summary>Called by the runtime for an object that was not disposed of.</summary>
    /// <returns>False when the memory is still held. It is then not freed, stays in listings, and is reported by
    /// checked builds of the native library.</returns>
    protected override bool ReleaseHandle()
    {
        bool freed = HandleMemory.FreeQuietly(_view.Word, _view.Generation, out uint holders);
        if (freed)
        {
            Leaks.CountCollected();
        }
        else if (holders != 0)
        {
            Reports.TellHeldBuffer(TypeText, _view.Size, holders);
        }
        return freed;
    }

    /// <summary>Sets every element to <paramref name="value"/>.</summary>
    /// <param name="value">The value to write.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public void Fill(T value)
    {
        _view.Fill(value);
        GC.KeepAlive(this);
    }

    /// <summary>Sets every byte to zero.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public void Clear()
    {
        _view.Clear();
        GC.KeepAlive(this);
    }

    /// <summary>Copies all elements.</summary>
    /// <param name="destination">The destination, at least as long as the buffer.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="ArgumentException">The destination is shorter; nothing was copied.</exception>
    public void CopyTo(Span<T> destination)
    {
        _view.CopyTo(destination);
        GC.KeepAlive(this);
    }

    /// <summary>Copies all elements into another buffer.</summary>
    /// <param name="destination">The destination, at least as long as the buffer.</param>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The destination is shorter; nothing was copied.</exception>
    public void CopyTo(OwnedBuffer<T> destination)
    {
        ArgumentNullException.ThrowIfNull(destination);
        _view.CopyTo(destination._view);
        GC.KeepAlive(destination);
        GC.KeepAlive(this);
    }

    /// <summary>Copies values to the start of the buffer. The elements after them are unchanged.</summary>
    /// <param name="values">The values to copy, at most as many as there are elements.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="ArgumentException">There are more values than elements; nothing was copied.</exception>
    public void CopyFrom(ReadOnlySpan<T> values)
    {
        _view.CopyFrom(values);
        GC.KeepAlive(this);
    }

    /// <summary>Copies all elements to a managed array.</summary>
    /// <returns>A new array.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="InvalidOperationException">There are more elements than a managed array can have.</exception>
    public T[] CopyToArray()
    {
        T[] values = _view.CopyToArray();
        GC.KeepAlive(this);
        return values;
    }

    /// <summary>Determines whether the buffer has exactly the given values, in the same order.</summary>
    /// <param name="values">The values to compare with.</param>
    /// <returns>True if the lengths and all elements are equal; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public bool EqualTo(ReadOnlySpan<T> values)
    {
        bool equal = _view.EqualTo(values);
        GC.KeepAlive(this);
        return equal;
    }

    /// <summary>Determines whether another buffer has the same values in the same order.</summary>
    /// <param name="other">The buffer to compare with.</param>
    /// <returns>True if the lengths and all elements are equal; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    public bool EqualTo(OwnedBuffer<T> other)
    {
        ArgumentNullException.ThrowIfNull(other);
        bool equal = _view.EqualTo(other._view);
        GC.KeepAlive(other);
        GC.KeepAlive(this);
        return equal;
    }

    /// <summary>Returns a reference to a value of another type at the first byte of an element.</summary>
    /// <typeparam name="TOther">The other type.</typeparam>
    /// <param name="index">The index of the element. The value may extend past the end of the element, but not past the
    /// end of the buffer.</param>
    /// <returns>A reference to the value, to read and to write. The address may be unaligned.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="IndexOutOfRangeException">The value is out of range.</exception>
    public ref TOther Read<TOther>(long index)
        where TOther : unmanaged => ref _view.Other<TOther>(index);

    /// <summary>Writes a value of another type over the bytes at an element.</summary>
    /// <typeparam name="TOther">The other type.</typeparam>
    /// <param name="index">The index of the element. The value may extend past the end of the element, but not past the
    /// end of the buffer.</param>
    /// <param name="value">The value to write.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="IndexOutOfRangeException">The value is out of range.</exception>
    public void Write<TOther>(long index, in TOther value)
        where TOther : unmanaged
    {
        _view.Other<TOther>(index) = value;
        GC.KeepAlive(this);
    }

    /// <summary>Returns the vector of elements that starts at an index.</summary>
    /// <param name="index">The index of the first element.</param>
    /// <returns>A copy of the elements.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> cannot be an element of a vector.</exception>
    /// <exception cref="IndexOutOfRangeException">Too few elements follow the index.</exception>
    public Vector<T> GetVector(long index = 0)
    {
        if (!Vector<T>.IsSupported)
        {
            BufferErrors.ThrowNoVector(typeof(T));
        }
        Vector<T> vector = _view.Other<Vector<T>>(index);
        GC.KeepAlive(this);
        return vector;
    }

    /// <summary>Enumerates the elements as references and holds the memory meanwhile.</summary>
    /// <returns>The enumerator for <c>foreach</c>. It allocates nothing.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public BufferEnumerator<T> GetEnumerator() => new(_view, this);

    IEnumerator<T> IEnumerable<T>.GetEnumerator() => _view.Enumerate(this);

    IEnumerator IEnumerable.GetEnumerator() => _view.Enumerate(this);

    /// <summary>Returns a fixed-length stream over all bytes. The stream keeps the buffer alive and does not own
    /// it.</summary>
    /// <returns>A stream that can read, write and seek.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public Stream AsStream() => new BufferStream(_view.As<byte>(), this);

    /// <summary>Returns a fixed-length stream over a part of the bytes. The stream keeps the buffer alive and does not
    /// own it.</summary>
    /// <param name="offset">The offset of the stream's first byte, 0 to <see cref="Size"/>.</param>
    /// <param name="bytes">The number of bytes.</param>
    /// <returns>A stream that can read, write and seek.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is out of range.</exception>
    public Stream AsStream(long offset, long bytes) => new BufferStream(_view.As<byte>().Part(offset, bytes), this);

    /// <summary>Returns a reference to the first element, for <c>fixed</c> and for native functions. Native memory does
    /// not move.</summary>
    /// <returns>The reference; a null reference when there are no elements.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public ref T GetPinnableReference()
    {
        _view.ThrowIfStale();
        return ref _view.Length == 0 ? ref Unsafe.NullRef<T>() : ref *_view.Pointer;
    }

    /// <summary>Returns the address of an element, for native functions.</summary>
    /// <param name="index">The index of the element.</param>
    /// <returns>The address, valid until the memory is freed. Hold the memory while using it.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="IndexOutOfRangeException">The index is negative or not less than the length.</exception>
    public T* PointerTo(long index)
    {
        _view.ThrowIfStale();
        if ((ulong)index >= (ulong)_view.Length)
        {
            BufferErrors.ThrowIndex(index, _view.Length);
        }
        return _view.Pointer + index;
    }

    /// <summary>Returns the type and the length, and whether the memory was freed. Reads no element.</summary>
    /// <returns>A text such as <c>SafeArray&lt;Int32&gt;[100]</c>.</returns>
    public override string ToString() => DebuggerText;

    [DebuggerBrowsable(DebuggerBrowsableState.Never)]
    private string DebuggerText => BufferText.Of(TypeText, _view.Length, _view.Word, _view.Generation);

    [DebuggerBrowsable(DebuggerBrowsableState.Never)]
    private string TypeText
    {
        get
        {
            string name = GetType().Name;
            int arity = name.IndexOf('`', StringComparison.Ordinal);
            return arity < 0 ? name : $"{name[..arity]}<{typeof(T).Name}>";
        }
    }
}
