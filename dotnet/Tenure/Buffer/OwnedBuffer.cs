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

/// <summary>Native memory that an object owns: what <see cref="SafeBuffer{T}"/> and <see cref="HugeBuffer{T}"/> have in
/// common.</summary>
/// <remarks>
/// <para>Dispose of it. When nobody does, the garbage collector gives the memory back in its own time
/// (<see cref="Leaks.CollectedCount"/>): it sees a small object and knows nothing of the memory behind it.</para>
/// <para>There is one count of holders, the handle's. Disposing of a buffer that is held throws; disposing of it a
/// second time does nothing. <see cref="SafeHandle.DangerousAddRef"/> counts elsewhere and does not keep the memory:
/// use <see cref="Acquire"/>.</para>
/// <para>A reference, a span or a pointer of <c>fixed</c> taken from it neither keeps the object alive nor holds the
/// memory: take a lease, which does both.</para>
/// <para>Threads: any. A field that threads share is one word, and never read torn, unlike one of type
/// <see cref="FixedBuffer{T}"/>. The check and the access are two steps: a free on another thread between them is not
/// seen, so hold it (<see cref="Acquire"/>, a lease) where another thread may free it.</para>
/// </remarks>
/// <typeparam name="T">Any unmanaged structure.</typeparam>
[DebuggerDisplay("{DebuggerText,nq}")]
[DebuggerTypeProxy(typeof(OwnedBufferDebugView<>))]
public abstract unsafe partial class OwnedBuffer<T> : SafeHandle, IEnumerable<T>, IRetainable
    where T : unmanaged
{
    // Indexers read its fields one by one: an address of it in between would cost a check for null.
    private protected readonly BufferView<T> _view;

    private protected OwnedBuffer(BufferView<T> view)
        : base(0, ownsHandle: true)
    {
        _view = view;
        SetHandle((nint)view.Pointer);
    }

    /// <summary>The elements and the handle.</summary>
    internal ref readonly BufferView<T> View
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => ref _view;
    }

    /// <summary>How many bytes its elements have.</summary>
    public long Size => _view.Size;

    /// <summary>Whether the memory was freed.</summary>
    public override bool IsInvalid => !_view.IsLive;

    /// <summary>Whether the memory is there.</summary>
    public bool IsValid => _view.IsLive;

    /// <summary>How often it is held, 0 to 2^31 - 1.</summary>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public int RefCount
    {
        get
        {
            _view.ThrowIfStale();
            return HandleWords.Holders(_view.Word, _view.Generation);
        }
    }

    /// <summary>Whether somebody holds it, so that it cannot be freed.</summary>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public bool IsRetained => RefCount != 0;

    /// <summary>What it is checked against: for native code, and for listings.</summary>
    public NativeHandle Handle => _view.Handle;

    /// <summary>Holds it: until the <see cref="Release()"/> it cannot be freed.</summary>
    /// <returns>True.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="InvalidOperationException">It is held 2^31 - 1 times already.</exception>
    public bool Acquire()
    {
        HandleWords.Acquire(_view.Word, _view.Generation);
        return true;
    }

    /// <summary>The same as <see cref="Acquire"/>.</summary>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="InvalidOperationException">It is held 2^31 - 1 times already.</exception>
    public void Retain() => Acquire();

    /// <summary>No longer holds it.</summary>
    /// <returns>True.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="InvalidOperationException">It was released as often as it was acquired; nothing has
    /// changed.</exception>
    public bool Release()
    {
        HandleWords.Release(_view.Word, _view.Generation);
        return true;
    }

    /// <summary>Gives the memory back. A second time throws; <see cref="SafeHandle.Dispose()"/> does nothing
    /// then.</summary>
    /// <returns>True.</returns>
    /// <exception cref="ObjectDisposedException">It was freed before.</exception>
    /// <exception cref="InvalidOperationException">Somebody holds it, and how often; nothing has changed.</exception>
    public bool Free()
    {
        HandleMemory.Free(_view.Word, _view.Generation);
        SetHandleAsInvalid();
        return true;
    }

    /// <summary>Gives the memory back, unless it was given back already. Throws when it is held, at the end of a
    /// <c>using</c> as well: end leases and releases before it.</summary>
    /// <param name="disposing">False from a finalizer, which leaves alone what is held.</param>
    /// <exception cref="InvalidOperationException">Somebody holds it, and how often; nothing has changed.</exception>
    protected override void Dispose(bool disposing)
    {
        // Here and not in ReleaseHandle: what throws there is lost, and whether it is held and the free are one step.
        if (disposing)
        {
            HandleMemory.TryFree(_view.Word, _view.Generation);
            SetHandleAsInvalid();
        }
        base.Dispose(disposing);
    }

    /// <summary>Called by the runtime, for an object that nobody disposed of.</summary>
    /// <returns>False when it is held still: then it stays, is listed, and checked builds of the native library report
    /// it.</returns>
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

    /// <summary>Every element becomes <paramref name="value"/>.</summary>
    /// <param name="value">What they become.</param>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public void Fill(T value)
    {
        _view.Fill(value);
        GC.KeepAlive(this);
    }

    /// <summary>Every byte becomes zero.</summary>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public void Clear()
    {
        _view.Clear();
        GC.KeepAlive(this);
    }

    /// <summary>Copies all elements.</summary>
    /// <param name="destination">At least as long.</param>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="ArgumentException">The destination is shorter; nothing was copied.</exception>
    public void CopyTo(Span<T> destination)
    {
        _view.CopyTo(destination);
        GC.KeepAlive(this);
    }

    /// <summary>Copies all elements into another buffer.</summary>
    /// <param name="destination">At least as long.</param>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The destination is shorter; nothing was copied.</exception>
    public void CopyTo(OwnedBuffer<T> destination)
    {
        ArgumentNullException.ThrowIfNull(destination);
        _view.CopyTo(destination._view);
        GC.KeepAlive(destination);
        GC.KeepAlive(this);
    }

    /// <summary>The first elements become these values; those after them stay.</summary>
    /// <param name="values">At most as many as there are elements.</param>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="ArgumentException">There are more values than elements; nothing was copied.</exception>
    public void CopyFrom(ReadOnlySpan<T> values)
    {
        _view.CopyFrom(values);
        GC.KeepAlive(this);
    }

    /// <summary>A managed array with all elements.</summary>
    /// <returns>A new array.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="InvalidOperationException">There are more elements than an array can have.</exception>
    public T[] CopyToArray()
    {
        T[] values = _view.CopyToArray();
        GC.KeepAlive(this);
        return values;
    }

    /// <summary>Whether it has exactly these values, in this order.</summary>
    /// <param name="values">What it is compared with.</param>
    /// <returns>False also when there are more or fewer.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public bool EqualTo(ReadOnlySpan<T> values)
    {
        bool equal = _view.EqualTo(values);
        GC.KeepAlive(this);
        return equal;
    }

    /// <summary>Whether another buffer has the same values in the same order.</summary>
    /// <param name="other">What it is compared with.</param>
    /// <returns>False also when it has more or fewer.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    public bool EqualTo(OwnedBuffer<T> other)
    {
        ArgumentNullException.ThrowIfNull(other);
        bool equal = _view.EqualTo(other._view);
        GC.KeepAlive(other);
        GC.KeepAlive(this);
        return equal;
    }

    /// <summary>A value of another type at the bytes where an element begins.</summary>
    /// <typeparam name="TOther">The other type.</typeparam>
    /// <param name="index">The element; the value may go past its end, but not past the buffer's.</param>
    /// <returns>The value itself, to read and to write, wherever its address is.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="IndexOutOfRangeException">The value is not inside.</exception>
    public ref TOther Read<TOther>(long index)
        where TOther : unmanaged => ref _view.Other<TOther>(index);

    /// <summary>Writes a value of another type over the bytes where an element begins.</summary>
    /// <typeparam name="TOther">The other type.</typeparam>
    /// <param name="index">The element; the value may go past its end, but not past the buffer's.</param>
    /// <param name="value">What is written.</param>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="IndexOutOfRangeException">The value is not inside.</exception>
    public void Write<TOther>(long index, in TOther value)
        where TOther : unmanaged
    {
        _view.Other<TOther>(index) = value;
        GC.KeepAlive(this);
    }

    /// <summary>One vector of the elements from one on.</summary>
    /// <param name="index">The first of them.</param>
    /// <returns>A copy.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="NotSupportedException">The element is no element of a vector.</exception>
    /// <exception cref="IndexOutOfRangeException">From there it has too few elements.</exception>
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

    /// <summary>The elements one after the other, as references; it is held meanwhile.</summary>
    /// <returns>What <c>foreach</c> uses: it allocates nothing.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public BufferEnumerator<T> GetEnumerator() => new(_view, this);

    IEnumerator<T> IEnumerable<T>.GetEnumerator() => _view.Enumerate(this);

    IEnumerator IEnumerable.GetEnumerator() => _view.Enumerate(this);

    /// <summary>The bytes as a stream of fixed length, from the first on. It keeps the buffer alive and does not own
    /// it.</summary>
    /// <returns>A stream that can read, write and seek.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public Stream AsStream() => new BufferStream(_view.As<byte>(), this);

    /// <summary>A part of the bytes as a stream of fixed length. It keeps the buffer alive and does not own
    /// it.</summary>
    /// <param name="offset">The stream's first byte, 0 to <see cref="Size"/>.</param>
    /// <param name="bytes">How many.</param>
    /// <returns>A stream that can read, write and seek.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is not inside.</exception>
    public Stream AsStream(long offset, long bytes) => new BufferStream(_view.As<byte>().Part(offset, bytes), this);

    /// <summary>For <c>fixed</c>, and for native functions: the first element. Native memory does not move.</summary>
    /// <returns>A null reference when there is no element.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public ref T GetPinnableReference()
    {
        _view.ThrowIfStale();
        return ref _view.Length == 0 ? ref Unsafe.NullRef<T>() : ref *_view.Pointer;
    }

    /// <summary>The address of an element, for native functions.</summary>
    /// <param name="index">The element.</param>
    /// <returns>Valid until the memory is freed: hold it meanwhile.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="IndexOutOfRangeException">There is no such element.</exception>
    public T* PointerTo(long index)
    {
        _view.ThrowIfStale();
        if ((ulong)index >= (ulong)_view.Length)
        {
            BufferErrors.ThrowIndex(index, _view.Length);
        }
        return _view.Pointer + index;
    }

    /// <summary>The type and the length, and whether it was freed. Reads no element.</summary>
    /// <returns>Such as <c>SafeArray&lt;Int32&gt;[100]</c>.</returns>
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
