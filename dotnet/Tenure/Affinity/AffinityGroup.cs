// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>Keeps objects that are visited together close together in memory: mixed sizes in the group's own blocks, in
/// allocation order.</summary>
/// <remarks>
/// <para><b>Use it for</b> scene graphs, trees, meshes of small objects. Use one group per kind of traversal, so that
/// objects that a traversal skips do not lie between objects that it visits. <b>Not for</b> many objects of one type:
/// see <see cref="Pool{T}"/>; large objects or objects visited alone: see <see cref="Native"/>.</para>
/// <para>Four groups of the process are ready-made, and shared with native code: <see cref="Objects"/>,
/// <see cref="Data"/>, <see cref="Nodes"/>, <see cref="Physics"/>.</para>
/// <para><b>Memory from</b> pages of the system, in naturally aligned blocks of 2 MiB, touched as they are used.
/// <b>Cost</b> one native call, O(1). <b>Overhead</b> no header. One bit per 8 bytes, only in pages where
/// objects were freed. Unless every free names the size, one more bit per 8 bytes: at most 4 bytes per object of up to
/// 256 bytes, and 1.6 % of larger ones.</para>
/// <para><b>Threads</b> one at a time, or any with <see cref="AffinityGroupOptions.AnyThread"/>; no other thread may
/// use the group during <see cref="Clear"/>, <see cref="Trim"/> and <see cref="Dispose"/>. <b>When full</b>
/// <see cref="TryAllocate"/> returns null and the others throw <see cref="OutOfMemoryException"/>; both leave
/// everything unchanged.</para>
/// <para>The group frees its objects, even when the garbage collector finalizes a group that was not disposed. Keep the
/// group reachable while its objects are used.</para>
/// </remarks>
public sealed unsafe partial class AffinityGroup : IDisposable
{
    private readonly OwnerHandle? _owner; // null in a ready-made group
    private void* _group; // null after Dispose

    /// <summary>Initializes a group with default options.</summary>
    /// <param name="name">The group's name in reports.</param>
    /// <exception cref="OutOfMemoryException">There is not enough memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public AffinityGroup(string name = "")
        : this(new AffinityGroupOptions { Name = name })
    {
    }

    /// <summary>Initializes a group with the given options.</summary>
    /// <param name="options">The options.</param>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of range.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public AffinityGroup(AffinityGroupOptions options)
    {
        Check(options);
        NativeLibraryCheck.Ensure();
        Name = options.Name ?? "";
        using var name = new Utf8Text(Name, stackalloc byte[Utf8Text.StackBytes]);
        fixed (byte* text = name.Bytes)
        {
            NativeAffinitySettings settings = SettingsOf(options);
            settings.Name = new NativeUtf8 { Data = text, Length = (ulong)name.Bytes.Length };
            _group = NativeMethods.tn_affinity_create(&settings);
        }
        if (_group == null)
        {
            Throw.NotCreated($"the affinity group \"{Name}\"");
        }
        _owner = new OwnerHandle(_group, &NativeMethods.tn_affinity_destroy, $"The affinity group \"{Name}\"");
    }

    /// <summary>Gets the group's name in reports.</summary>
    public string Name { get; }

    /// <summary>Allocates uninitialized memory directly after the previous allocation.</summary>
    /// <param name="bytes">The size in bytes; zero counts as one.</param>
    /// <returns>Memory at a multiple of the group's alignment.</returns>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public void* Allocate(nuint bytes) => Demand(AllocateAt(bytes, 0), bytes);

    /// <summary>Allocates uninitialized memory directly after the previous allocation.</summary>
    /// <param name="bytes">The size in bytes; zero counts as one.</param>
    /// <param name="alignment">The alignment in bytes, a power of two; the group's own alignment is met as
    /// well.</param>
    /// <returns>Memory at a multiple of both alignments.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is not a power of two.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public void* Allocate(nuint bytes, nuint alignment)
    {
        Throw.UnlessPowerOfTwo(alignment);
        return Demand(AllocateAt(bytes, alignment), bytes);
    }

    /// <summary>Allocates as <see cref="Allocate(nuint)"/> does, but returns null instead of throwing when out of
    /// memory.</summary>
    /// <param name="bytes">The size in bytes; zero counts as one.</param>
    /// <returns>The memory; null when out of memory, which changes nothing.</returns>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public void* TryAllocate(nuint bytes) => AllocateAt(bytes, 0);

    /// <summary>Creates an object directly after the previous allocation.</summary>
    /// <typeparam name="T">The object's type.</typeparam>
    /// <param name="value">The object's initial value.</param>
    /// <returns>The object, valid until it is freed or the group is cleared or disposed.</returns>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public ref T Construct<T>(in T value)
        where T : unmanaged
    {
        T* made = (T*)Demand(AllocateAt((nuint)sizeof(T), AlignmentOf<T>.Bytes), (nuint)sizeof(T));
        *made = value;
        return ref *made;
    }

    /// <summary>Frees an object's memory. Null is allowed and does nothing.</summary>
    /// <param name="block">Memory of this group that is not deallocated.</param>
    /// <exception cref="InvalidOperationException">The group requires the size on every free, because of
    /// <see cref="AffinityGroupOptions.SizesRequired"/> or, in a ready-made group, of
    /// <c>TENURE_AFFINITY_SIZE_REQUIRED</c> or of native code that configured it. Nothing was freed.</exception>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public void Deallocate(void* block)
    {
        void* group = Group;
        if (NativeMethods.tn_affinity_sizes_required(group) != 0)
        {
            throw new InvalidOperationException(
                $"The affinity group \"{Name}\" requires the size on every free ({(_owner is null ? "SizesRequired or TENURE_AFFINITY_SIZE_REQUIRED" : "SizesRequired")}). Call the overload with the size.");
        }
        NativeMethods.tn_affinity_deallocate(group, block);
        GC.KeepAlive(this);
    }

    /// <summary>Frees an object's memory. Null is allowed and does nothing.</summary>
    /// <param name="block">Memory of this group that is not deallocated.</param>
    /// <param name="bytes">The size that it was allocated with.</param>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public void Deallocate(void* block, nuint bytes)
    {
        NativeMethods.tn_affinity_deallocate_sized(Group, block, bytes, 0);
        GC.KeepAlive(this);
    }

    /// <summary>Frees an object's memory. Null is allowed and does nothing.</summary>
    /// <param name="block">Memory of this group that is not deallocated.</param>
    /// <param name="bytes">The size that it was allocated with.</param>
    /// <param name="alignment">The alignment that it was allocated with.</param>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is not a power of two.</exception>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public void Deallocate(void* block, nuint bytes, nuint alignment)
    {
        Throw.UnlessPowerOfTwo(alignment);
        NativeMethods.tn_affinity_deallocate_sized(Group, block, bytes, alignment);
        GC.KeepAlive(this);
    }

    /// <summary>Frees an object's memory.</summary>
    /// <typeparam name="T">The object's type.</typeparam>
    /// <param name="instance">The reference that <see cref="Construct"/> returned, not a copy of the object, and not
    /// freed since.</param>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public void Free<T>(ref T instance)
        where T : unmanaged
    {
        NativeMethods.tn_affinity_deallocate_sized(
            Group, Unsafe.AsPointer(ref instance), (nuint)sizeof(T), AlignmentOf<T>.Bytes);
        GC.KeepAlive(this);
    }

    /// <summary>Frees every object and keeps the pages until <see cref="Trim"/>. Cost: O(blocks). No other thread may
    /// use the group during the call.</summary>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public void Clear()
    {
        NativeMethods.tn_affinity_clear(Group);
        GC.KeepAlive(this);
    }

    /// <summary>Returns empty blocks, and the empty pages of other blocks, to the system. No other thread may use the
    /// group during the call.</summary>
    /// <returns>The number of bytes returned.</returns>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public nuint Trim()
    {
        nuint bytes = NativeMethods.tn_affinity_trim(Group);
        GC.KeepAlive(this);
        return bytes;
    }

    /// <summary>Gets the current statistics. Cost: O(pages), with a lock if any thread may use the group.</summary>
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

    /// <summary>Returns all blocks to the system, including objects still allocated. A second call does nothing. No
    /// other thread may use the group during or after the call.</summary>
    /// <exception cref="InvalidOperationException">The group is ready-made.</exception>
    public void Dispose()
    {
        if (_owner is null)
        {
            throw new InvalidOperationException(
                $"The affinity group \"{Name}\" is ready-made and lives as long as the process. Call Clear to free its objects, and Trim to return its memory.");
        }
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
            Throw.Refused(bytes, $"The affinity group \"{Name}\"");
        }
        return block;
    }
}
