// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Numerics;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>Objects that are visited together live together: mixed sizes in blocks of their own, in the order of
/// allocation.</summary>
/// <remarks>
/// <para><b>Use it for</b> scene graphs, trees, meshes of small objects: one group per kind of visit, so that what a
/// traversal does not look at does not lie between what it does. <b>Not for</b> one type in bulk:
/// <see cref="Pool{T}"/>; what
/// is large or visited alone: <see cref="Native"/>.</para>
/// <para><b>Memory from</b> pages of the system, in naturally aligned blocks of 2 MiB, touched as they are used.
/// <b>Cost</b> a call, and O(1) in it. <b>Overhead</b> no header; where frees name the size, a bit for 8 bytes where
/// something was freed, otherwise one more bit for 8 bytes, and 4 bytes up to 256 bytes of size and 1.6 % above.</para>
/// <para><b>Threads</b> one at a time, or any with <see cref="AffinityGroupOptions.AnyThread"/>; no other during
/// <see cref="Clear"/>, <see cref="Trim"/> and <see cref="Dispose"/>. <b>When full</b> <see cref="TryAllocate"/>
/// returns null, the others throw <see cref="OutOfMemoryException"/>; nothing has changed then.</para>
/// <para>Its objects go with it, also when the garbage collector takes a group that nobody disposed: keep it reachable
/// as long as they are used.</para>
/// </remarks>
public sealed unsafe class AffinityGroup : IDisposable
{
    private const int LeastBlockBytes = 64 << 10;
    private const int MaxBlockBytes = 1 << 30;

    private readonly OwnerHandle _owner;
    private readonly bool _sizesRequired;
    private void* _group; // null once disposed

    /// <summary>A group with the usual options.</summary>
    /// <param name="name">What it is called in reports.</param>
    /// <exception cref="OutOfMemoryException">The system refuses.</exception>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public AffinityGroup(string name = "")
        : this(new AffinityGroupOptions { Name = name })
    {
    }

    /// <summary>A group as the options say.</summary>
    /// <param name="options">How it is to be.</param>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of its range.</exception>
    /// <exception cref="OutOfMemoryException">The system refuses.</exception>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public AffinityGroup(AffinityGroupOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        if (options.Alignment is < 8 or > 1024 || !BitOperations.IsPow2(options.Alignment))
        {
            Throw.OutOfRange(nameof(options), options.Alignment, "A group's alignment is a power of two from 8 to 1024.");
        }
        if (options.BlockBytes is < LeastBlockBytes or > MaxBlockBytes || !BitOperations.IsPow2(options.BlockBytes))
        {
            Throw.OutOfRange(nameof(options), options.BlockBytes, "A group's block has a power of two from 64 KiB to 1 GiB.");
        }
        NativeLibraryCheck.Ensure();
        Name = options.Name ?? "";
        _sizesRequired = options.SizesRequired;
        using var name = new Utf8Text(Name, stackalloc byte[Utf8Text.StackBytes]);
        fixed (byte* text = name.Bytes)
        {
            // Zero stands for the default there, and the largest number for none.
            var settings = new NativeAffinitySettings
            {
                AnyThread = options.AnyThread ? 1u : 0u,
                Name = new NativeUtf8 { Data = text, Length = (ulong)name.Bytes.Length },
                Alignment = (ulong)options.Alignment,
                BlockBytes = (ulong)options.BlockBytes,
                MaxRetainedBytes = options.MaxRetainedBytes is 0 ? ulong.MaxValue : options.MaxRetainedBytes ?? 0,
                SizesRequired = options.SizesRequired ? 1u : 0u,
                SplitBySize = options.SplitBySize ? 1u : 0u,
            };
            _group = NativeMethods.tn_affinity_create(&settings);
        }
        if (_group == null)
        {
            Throw.Refused(0, "the system, for an affinity group");
        }
        _owner = new OwnerHandle(_group, &NativeMethods.tn_affinity_destroy, $"The affinity group \"{Name}\"");
    }

    /// <summary>What it is called in reports.</summary>
    public string Name { get; }

    /// <summary>Allocates memory, not initialised, next to what was allocated last.</summary>
    /// <param name="bytes">How much; zero counts as one.</param>
    /// <returns>Memory at a multiple of the group's alignment.</returns>
    /// <exception cref="OutOfMemoryException">The system refuses; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public void* Allocate(nuint bytes) => Demand(AllocateAt(bytes, 0), bytes);

    /// <summary>Allocates memory, not initialised, next to what was allocated last.</summary>
    /// <param name="bytes">How much; zero counts as one.</param>
    /// <param name="alignment">A power of two, in bytes; the group's own is met as well.</param>
    /// <returns>Memory at a multiple of both.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is no power of two.</exception>
    /// <exception cref="OutOfMemoryException">The system refuses; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public void* Allocate(nuint bytes, nuint alignment)
    {
        Throw.UnlessPowerOfTwo(alignment);
        return Demand(AllocateAt(bytes, alignment), bytes);
    }

    /// <summary>As <see cref="Allocate(nuint)"/>, without an exception when it is refused.</summary>
    /// <param name="bytes">How much; zero counts as one.</param>
    /// <returns>Null when refused, and then nothing has changed.</returns>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public void* TryAllocate(nuint bytes) => AllocateAt(bytes, 0);

    /// <summary>Makes an object next to what was allocated last.</summary>
    /// <typeparam name="T">What it is.</typeparam>
    /// <param name="value">What it is to be.</param>
    /// <returns>The object, valid until it is freed, or the group is cleared or disposed.</returns>
    /// <exception cref="OutOfMemoryException">The system refuses; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public ref T Construct<T>(in T value)
        where T : unmanaged
    {
        T* made = (T*)Demand(AllocateAt((nuint)sizeof(T), AlignmentOf<T>.Bytes), (nuint)sizeof(T));
        *made = value;
        return ref *made;
    }

    /// <summary>Gives an object's memory back. Null is allowed and does nothing.</summary>
    /// <param name="block">Of this group, not deallocated since.</param>
    /// <exception cref="InvalidOperationException">The group's frees name the size.</exception>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public void Deallocate(void* block)
    {
        void* group = Group;
        if (_sizesRequired)
        {
            throw new InvalidOperationException(
                $"Frees of the affinity group \"{Name}\" name the size, as its options say: use the form with it.");
        }
        NativeMethods.tn_affinity_deallocate(group, block);
        GC.KeepAlive(this);
    }

    /// <summary>Gives an object's memory back. Null is allowed and does nothing.</summary>
    /// <param name="block">Of this group, not deallocated since.</param>
    /// <param name="bytes">What it was allocated with.</param>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public void Deallocate(void* block, nuint bytes)
    {
        NativeMethods.tn_affinity_deallocate_sized(Group, block, bytes, 0);
        GC.KeepAlive(this);
    }

    /// <summary>Gives an object's memory back. Null is allowed and does nothing.</summary>
    /// <param name="block">Of this group, not deallocated since.</param>
    /// <param name="bytes">What it was allocated with.</param>
    /// <param name="alignment">Likewise.</param>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is no power of two.</exception>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public void Deallocate(void* block, nuint bytes, nuint alignment)
    {
        Throw.UnlessPowerOfTwo(alignment);
        NativeMethods.tn_affinity_deallocate_sized(Group, block, bytes, alignment);
        GC.KeepAlive(this);
    }

    /// <summary>Gives an object's memory back.</summary>
    /// <typeparam name="T">What it is.</typeparam>
    /// <param name="instance">What <see cref="Construct"/> returned, and not a copy of it; not freed since.</param>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public void Free<T>(ref T instance)
        where T : unmanaged
    {
        NativeMethods.tn_affinity_deallocate_sized(
            Group, Unsafe.AsPointer(ref instance), (nuint)sizeof(T), AlignmentOf<T>.Bytes);
        GC.KeepAlive(this);
    }

    /// <summary>Everything is free; pages are kept until <see cref="Trim"/>. Cost O(blocks). No other thread uses the
    /// group meanwhile.</summary>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public void Clear()
    {
        NativeMethods.tn_affinity_clear(Group);
        GC.KeepAlive(this);
    }

    /// <summary>Gives back empty blocks, and the empty pages of others. No other thread uses the group
    /// meanwhile.</summary>
    /// <returns>The bytes given back.</returns>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public nuint Trim()
    {
        nuint bytes = NativeMethods.tn_affinity_trim(Group);
        GC.KeepAlive(this);
        return bytes;
    }

    /// <summary>Its figures of now. Cost O(pages), with a lock where any thread may use it.</summary>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public AllocatorStats Stats
    {
        get
        {
            var seen = new NativeAllocatorStats();
            NativeMethods.tn_affinity_get_stats(Group, &seen);
            GC.KeepAlive(this);
            return AllocatorStats.From(seen);
        }
    }

    /// <summary>Gives every block back, whatever is still allocated. A second time does nothing. No other thread uses
    /// the group any more.</summary>
    public void Dispose()
    {
        _group = null;
        _owner.Dispose();
    }

    private void* Group
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            void* group = _group;
            if (group == null)
            {
                Throw.Disposed(nameof(AffinityGroup));
            }
            return group;
        }
    }

    private void* AllocateAt(nuint bytes, nuint alignment)
    {
        void* block = NativeMethods.tn_affinity_allocate(Group, bytes, alignment);
        GC.KeepAlive(this);
        return block;
    }

    private void* Demand(void* block, nuint bytes)
    {
        if (block == null)
        {
            Throw.Refused(bytes, $"the affinity group \"{Name}\"");
        }
        return block;
    }
}
