// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.IO;

namespace Tenure.Bench;

/// <summary>One of our arrays as the benchmarks use it, so that each benchmark is written once for all of
/// them.</summary>
/// <typeparam name="TSelf">The array type.</typeparam>
/// <typeparam name="T">The element type.</typeparam>
public unsafe interface IOwnArray<TSelf, T>
    where TSelf : struct, IOwnArray<TSelf, T>
    where T : unmanaged
{
    /// <summary>The name in the tables.</summary>
    static abstract string Name { get; }

    /// <summary>The alignment that <see cref="Create"/> does not use by default, for the other row: 16 as
    /// NativeMemory.Alloc, or 64 as buffers.</summary>
    static abstract int OtherAlignment { get; }

    /// <summary>Creates an array. An alignment of 0 selects the type's default.</summary>
    static abstract TSelf Create(long count, AllocationFill fill, int alignment = 0);

    /// <summary>Fills every element.</summary>
    void Fill(T value);

    /// <summary>The address of the first element.</summary>
    T* Begin { get; }

    /// <summary>Gets the element at an index.</summary>
    T At(long index);

    /// <summary>Frees the array.</summary>
    void Free();
}

/// <summary>A block by pointer.</summary>
/// <typeparam name="T">The element type.</typeparam>
public readonly unsafe struct OwnBlock<T> : IOwnArray<OwnBlock<T>, T>
    where T : unmanaged
{
    private readonly long _count;

    private OwnBlock(T* begin, long count)
    {
        Begin = begin;
        _count = count;
    }

    /// <inheritdoc/>
    public static string Name => "Native";

    /// <inheritdoc/>
    public static int OtherAlignment => BufferOptions.DefaultAlignment;

    /// <inheritdoc/>
    public T* Begin { get; }

    /// <inheritdoc/>
    public static OwnBlock<T> Create(long count, AllocationFill fill, int alignment = 0)
    {
        if (fill == AllocationFill.Zero)
        {
            return new((T*)NativeCounters.AllocateZeroed((nuint)count, (nuint)sizeof(T)), count);
        }
        nuint aligned = (nuint)(alignment == 0 ? Native.DefaultAlignment : alignment);
        return new((T*)Native.Allocate((nuint)count * (nuint)sizeof(T), Lifetime.Persistent, aligned), count);
    }

    /// <inheritdoc/>
    public void Fill(T value) => Pattern.Fill(Begin, _count, value);

    /// <inheritdoc/>
    public T At(long index) => Begin[index];

    /// <inheritdoc/>
    public void Free() => Native.Deallocate(Begin, Lifetime.Persistent);
}

/// <summary>A FixedBuffer.</summary>
/// <typeparam name="T">The element type.</typeparam>
public unsafe struct OwnFixedBuffer<T> : IOwnArray<OwnFixedBuffer<T>, T>
    where T : unmanaged
{
    internal FixedBuffer<T> Buffer;

    /// <inheritdoc/>
    public static string Name => "FixedBuffer";

    /// <inheritdoc/>
    public static int OtherAlignment => Native.DefaultAlignment;

    /// <inheritdoc/>
    public readonly T* Begin => Buffer.PointerTo(0);

    /// <inheritdoc/>
    public static OwnFixedBuffer<T> Create(long count, AllocationFill fill, int alignment = 0) =>
        new() { Buffer = new FixedBuffer<T>((int)count, new BufferOptions { Fill = fill, Alignment = alignment }) };

    /// <inheritdoc/>
    public readonly void Fill(T value) => Buffer.Fill(value);

    /// <inheritdoc/>
    public readonly T At(long index) => Buffer[(int)index];

    /// <inheritdoc/>
    public readonly void Free() => Buffer.Free();
}

/// <summary>A SafeArray.</summary>
/// <typeparam name="T">The element type.</typeparam>
public unsafe struct OwnSafeArray<T> : IOwnArray<OwnSafeArray<T>, T>
    where T : unmanaged
{
    internal SafeArray<T> Array;

    /// <inheritdoc/>
    public static string Name => "SafeArray";

    /// <inheritdoc/>
    public static int OtherAlignment => Native.DefaultAlignment;

    /// <inheritdoc/>
    public readonly T* Begin => Array.PointerTo(0);

    /// <inheritdoc/>
    public static OwnSafeArray<T> Create(long count, AllocationFill fill, int alignment = 0) =>
        new() { Array = new SafeArray<T>((int)count, new BufferOptions { Fill = fill, Alignment = alignment }) };

    /// <inheritdoc/>
    public readonly void Fill(T value) => Array.Fill(value);

    /// <inheritdoc/>
    public readonly T At(long index) => Array[(int)index];

    /// <inheritdoc/>
    public readonly void Free() => Array.Free();
}

/// <summary>A HugeArray, in memory or in a file.</summary>
/// <typeparam name="T">The element type.</typeparam>
public unsafe struct OwnHugeArray<T> : IOwnArray<OwnHugeArray<T>, T>
    where T : unmanaged
{
    internal HugeArray<T> Array;
    private string? _file;

    /// <inheritdoc/>
    public static string Name => "HugeArray";

    /// <inheritdoc/>
    public static int OtherAlignment => Native.DefaultAlignment;

    /// <inheritdoc/>
    public readonly T* Begin => Array.PointerTo(0);

    /// <inheritdoc/>
    public static OwnHugeArray<T> Create(long count, AllocationFill fill, int alignment = 0)
    {
        if (Selection.Request.FileFolder is not { } folder)
        {
            return new() { Array = new HugeArray<T>(count, new BufferOptions { Fill = fill, Alignment = alignment }) };
        }
        string file = Path.Combine(folder, Path.GetRandomFileName());
        return new() { Array = new HugeArray<T>(file, count), _file = file };
    }

    /// <inheritdoc/>
    public readonly void Fill(T value) => Array.Fill(value);

    /// <inheritdoc/>
    public readonly T At(long index) => Array[index];

    /// <inheritdoc/>
    public readonly void Free()
    {
        Array.Free();
        if (_file is not null)
        {
            File.Delete(_file);
        }
    }
}
