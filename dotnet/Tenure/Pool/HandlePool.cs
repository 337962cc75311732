// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>Objects of one type that are named by handles of 8 bytes with generations.</summary>
/// <remarks>
/// <para><b>Use it for</b> entities, components and resources that others refer to for longer than they are sure to
/// live: the handle of a freed object is stale, also after its place has a new object. <b>Not for</b> objects that only
/// their owner refers to: <see cref="Pool{T}"/> stores no generations. A handle of another pool is refused like a stale
/// one: for certain while no place of P pools was used for more than 400 million / P objects, and very likely after
/// that.</para>
/// <para><b>Memory from</b> the system: addresses for all objects are reserved at the first one, and committed as the
/// pool grows. Objects never move. <b>Cost</b> one native call, O(1); a traversal is one call per object, in the order
/// of addresses. <b>Overhead</b> 4.25 bytes per place, apart from the objects.</para>
/// <para><b>Threads</b> one thread at a time. Others may look up handles while none constructs, frees or clears.
/// <b>When full</b> <see cref="TryConstruct"/> returns false and <see cref="Construct"/> throws; both leave everything
/// unchanged.</para>
/// <para>The pool frees its objects, even when the garbage collector finalizes a pool that was not disposed. Keep the
/// pool reachable while references to its objects are used.</para>
/// <example><code>
/// using var monsters = new HandlePool&lt;Monster&gt;(maxCount: 100_000);
/// PoolHandle&lt;Monster&gt; boss = monsters.Construct(new Monster { Health = 100 });
/// monsters[boss].Health -= 10;
/// foreach (ref Monster each in monsters) each.Age++;
/// monsters.Free(boss); // monsters.IsLive(boss) is false from here on
/// </code></example>
/// </remarks>
/// <typeparam name="T">The object type. It contains no references, so no cleanup is needed when an object is
/// freed.</typeparam>
public sealed unsafe class HandlePool<T> : IDisposable
    where T : unmanaged
{
    private readonly OwnerHandle _owner;
    private void* _pool;

    /// <summary>Initializes a pool. It reserves nothing until the first object.</summary>
    /// <param name="maxCount">The largest number of objects: 1 to 2^32.</param>
    /// <exception cref="ArgumentOutOfRangeException">The count is out of range, or the type is larger than 256
    /// MiB.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public HandlePool(long maxCount)
    {
        if (maxCount is < 1 or > 1L << 32)
        {
            Throw.OutOfRange(nameof(maxCount), maxCount, "The largest number of objects must be 1 to 4294967296.");
        }
        if ((nuint)sizeof(T) > BlockPool.MaxBlockBytes)
        {
            Throw.OutOfRange(nameof(T), sizeof(T), $"An object must be at most {BlockPool.MaxBlockBytes} bytes.");
        }
        NativeLibraryCheck.Ensure();
        MaxCount = maxCount;
        _pool = NativeMethods.tn_handle_pool_create((nuint)sizeof(T), AlignmentOf<T>.Bytes, (nuint)maxCount);
        if (_pool == null)
        {
            Throw.NotCreated($"a pool with handles of {typeof(T).Name}");
        }
        _owner = new OwnerHandle(_pool, &NativeMethods.tn_handle_pool_destroy, $"A pool with handles of {typeof(T).Name}");
    }

    /// <summary>Gets the largest number of objects.</summary>
    public long MaxCount { get; }

    /// <summary>Gets the number of objects. Cost: O(1).</summary>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public long Count
    {
        get
        {
            long count = (long)NativeMethods.tn_handle_pool_size(Open);
            GC.KeepAlive(this);
            return count;
        }
    }

    /// <summary>Gets the object of a handle.</summary>
    /// <param name="handle">A handle of this pool.</param>
    /// <returns>The object, valid until it is freed, or the pool is cleared or disposed.</returns>
    /// <exception cref="ArgumentException">The handle is null, stale (the object was freed) or of another
    /// pool.</exception>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public ref T this[PoolHandle<T> handle]
    {
        get
        {
            T* found = Find(handle);
            if (found == null)
            {
                ThrowStale(handle);
            }
            return ref *found;
        }
    }

    /// <summary>Creates an object at the free place with the lowest address.</summary>
    /// <param name="value">The object's initial value.</param>
    /// <returns>The object's handle.</returns>
    /// <exception cref="InvalidOperationException">The pool has <see cref="MaxCount"/> objects; nothing has
    /// changed.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public PoolHandle<T> Construct(in T value)
    {
        if (!TryConstruct(value, out PoolHandle<T> handle))
        {
            ThrowFull();
        }
        return handle;
    }

    /// <summary>Creates an object as <see cref="Construct"/> does, but returns false instead of throwing when the pool is
    /// full or out of memory.</summary>
    /// <param name="value">The object's initial value.</param>
    /// <param name="handle">The object's handle; the default value if there is none.</param>
    /// <returns><c>true</c> if the object was created; otherwise <c>false</c>, and nothing has changed.</returns>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public bool TryConstruct(in T value, out PoolHandle<T> handle)
    {
        void* place;
        ulong bits = NativeMethods.tn_handle_pool_allocate(Open, &place);
        if (bits != 0)
        {
            *(T*)place = value;
        }
        GC.KeepAlive(this);
        handle = new PoolHandle<T>(bits);
        return bits != 0;
    }

    /// <summary>Gets the address of an object.</summary>
    /// <param name="handle">Any handle.</param>
    /// <param name="instance">The object, valid until it is freed, or the pool is cleared or disposed; null if there is
    /// none.</param>
    /// <returns><c>true</c> if the object is alive; <c>false</c> if the handle is null, stale or of another pool.</returns>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public bool TryGet(PoolHandle<T> handle, out T* instance)
    {
        instance = Find(handle);
        return instance != null;
    }

    /// <summary>Determines whether the object of a handle is alive.</summary>
    /// <param name="handle">Any handle.</param>
    /// <returns><c>true</c> if it is alive; <c>false</c> if the handle is null, stale or of another pool.</returns>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public bool IsLive(PoolHandle<T> handle) => Find(handle) != null;

    /// <summary>Frees an object; its handle becomes stale.</summary>
    /// <param name="handle">Any handle.</param>
    /// <returns><c>true</c> if the object was alive; <c>false</c>, and nothing has changed, if the handle is null,
    /// stale or of another pool.</returns>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public bool Free(PoolHandle<T> handle)
    {
        bool freed = NativeMethods.tn_handle_pool_deallocate(Open, handle.Bits) == NativeMethods.Ok;
        GC.KeepAlive(this);
        return freed;
    }

    /// <summary>Frees all objects and keeps the memory; all handles become stale.</summary>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public void Clear()
    {
        NativeMethods.tn_handle_pool_clear(Open);
        GC.KeepAlive(this);
    }

    /// <summary>Returns pages without objects to the system. Cost: a bit per place.</summary>
    /// <returns>The number of bytes returned, touched or not.</returns>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public nuint Trim()
    {
        nuint bytes = NativeMethods.tn_handle_pool_trim(Open);
        GC.KeepAlive(this);
        return bytes;
    }

    /// <summary>Visits the objects in the order of their addresses. The object that is visited may be freed; objects
    /// constructed meanwhile may be visited or not.</summary>
    /// <returns>The traversal; <c>foreach</c> uses it.</returns>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public Enumerator GetEnumerator()
    {
        _ = Open;
        return new Enumerator(this);
    }

    /// <summary>Releases all memory, including that of live objects. A second call does nothing.</summary>
    public void Dispose()
    {
        _pool = null;
        _owner.Dispose();
    }

    private void* Open
    {
        get
        {
            if (_pool == null)
            {
                Throw.Disposed(nameof(HandlePool<>));
            }
            return _pool;
        }
    }

    private T* Find(PoolHandle<T> handle)
    {
        T* found = (T*)NativeMethods.tn_handle_pool_get(Open, handle.Bits);
        GC.KeepAlive(this);
        return found;
    }

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ThrowStale(PoolHandle<T> handle) => throw new ArgumentException(
        handle.IsNull
            ? "The handle is the default value, which names no object. Pass a handle that Construct returned."
            : $"The handle {handle.Bits:x} is stale: its object of type {typeof(T).Name} was freed, or it belongs to another pool. "
                + "Ask with TryGet or IsLive where the object may be gone.",
        nameof(handle));

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void ThrowFull()
    {
        if (Count == MaxCount)
        {
            throw new InvalidOperationException(
                $"The pool is full: it has {MaxCount} objects of type {typeof(T).Name}. Free some, or create the pool with a "
                + "larger maxCount; only addresses are reserved for it.");
        }
        Throw.Refused((nuint)sizeof(T), $"A pool with handles of {typeof(T).Name}");
    }

    /// <summary>A traversal of a pool.</summary>
    public ref struct Enumerator
    {
        private readonly HandlePool<T> _pool;
        private ulong _handle;
        private T* _current;

        internal Enumerator(HandlePool<T> pool)
        {
            _pool = pool;
        }

        /// <summary>Gets the object that is visited.</summary>
        public readonly ref T Current => ref *_current;

        /// <summary>Gets the handle of the object that is visited.</summary>
        public readonly PoolHandle<T> Handle => new(_handle);

        /// <summary>Goes to the next object.</summary>
        /// <returns><c>false</c> at the end.</returns>
        /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
        public bool MoveNext()
        {
            ulong handle = _handle;
            _current = (T*)NativeMethods.tn_handle_pool_next(_pool.Open, &handle);
            GC.KeepAlive(_pool);
            if (_current != null)
            {
                _handle = handle;
            }
            return _current != null;
        }
    }
}
