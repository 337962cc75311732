// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Numerics;

namespace Tenure;

// The ready-made groups, and the configuration of a group.
public sealed unsafe partial class AffinityGroup
{
    private const int LeastBlockBytes = 64 << 10;
    private const int MaxBlockBytes = 1 << 30;
    private const uint ObjectsNumber = 0;
    private const uint DataNumber = 1;
    private const uint NodesNumber = 2;
    private const uint PhysicsNumber = 3;

    private AffinityGroup(uint number, string name)
    {
        Name = name;
        _group = NativeMethods.tn_affinity_ready_made(number);
    }

    /// <summary>Gets the ready-made group for objects that fit none of the others, at multiples of 8.</summary>
    /// <remarks>Any thread may use the ready-made groups. They live as long as the process, and Dispose throws. C and C++
    /// code in the process uses the same groups. The options <c>TENURE_AFFINITY_*</c> configure all four, and
    /// <see cref="Configure"/> one of them.</remarks>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static AffinityGroup Objects
    {
        get
        {
            NativeLibraryCheck.Ensure(); // an exception of ReadyMade's would be a TypeInitializationException
            return ReadyMade.Objects;
        }
    }

    /// <summary>Gets the ready-made group for arrays and other data that nodes point to, at multiples of 16.</summary>
    /// <remarks>See <see cref="Objects"/>.</remarks>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static AffinityGroup Data
    {
        get
        {
            NativeLibraryCheck.Ensure(); // an exception of ReadyMade's would be a TypeInitializationException
            return ReadyMade.Data;
        }
    }

    /// <summary>Gets the ready-made group for objects that a traversal visits, at multiples of 8.</summary>
    /// <remarks>See <see cref="Objects"/>.</remarks>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static AffinityGroup Nodes
    {
        get
        {
            NativeLibraryCheck.Ensure(); // an exception of ReadyMade's would be a TypeInitializationException
            return ReadyMade.Nodes;
        }
    }

    /// <summary>Gets the ready-made group for objects of a physics engine, at multiples of 16.</summary>
    /// <remarks>See <see cref="Objects"/>.</remarks>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static AffinityGroup Physics
    {
        get
        {
            NativeLibraryCheck.Ensure(); // an exception of ReadyMade's would be a TypeInitializationException
            return ReadyMade.Physics;
        }
    }

    /// <summary>Configures the group anew, before its first object. No other thread may use the group during the
    /// call.</summary>
    /// <param name="options">The options. The group keeps its name, and a group for any thread remains one.</param>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of range.</exception>
    /// <exception cref="InvalidOperationException">The group has an object or a block; nothing has changed.
    /// <see cref="Trim"/> returns empty blocks.</exception>
    /// <exception cref="ObjectDisposedException">The group is disposed.</exception>
    public void Configure(AffinityGroupOptions options)
    {
        Check(options);
        NativeAffinitySettings settings = SettingsOf(options);
        int status = NativeMethods.tn_affinity_configure(Group, &settings);
        GC.KeepAlive(this);
        if (status != 0)
        {
            throw new InvalidOperationException(
                $"The affinity group \"{Name}\" has an object or a block and cannot be configured. Configure it before its first object, or free its objects and call Trim.");
        }
    }

    private static void Check(AffinityGroupOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        if (options.Alignment is { } alignment && (alignment is < 4 or > 1024 || !BitOperations.IsPow2(alignment)))
        {
            Throw.OutOfRange(nameof(options), alignment, "The alignment must be a power of two from 4 to 1024.");
        }
        if (options.BlockBytes is < LeastBlockBytes or > MaxBlockBytes || !BitOperations.IsPow2(options.BlockBytes))
        {
            Throw.OutOfRange(nameof(options), options.BlockBytes, "The block size must be a power of two from 64 KiB to 1 GiB.");
        }
    }

    /// <summary>The options without the name. Zero selects the default, and the largest number means none.</summary>
    private static NativeAffinitySettings SettingsOf(AffinityGroupOptions options) => new()
    {
        AnyThread = options.AnyThread ? 1u : 0u,
        Alignment = (ulong)(options.Alignment ?? 0),
        BlockBytes = (ulong)options.BlockBytes,
        MaxRetainedBytes = options.MaxRetainedBytes is 0 ? ulong.MaxValue : options.MaxRetainedBytes ?? 0,
        SizesRequired = options.SizesRequired ? 1u : 0u,
        SplitBySize = options.SplitBySize ? 1u : 0u,
        HugePages = options.HugePages ? 1u : 0u,
    };

    /// <summary>Created by the first use of one of them.</summary>
    private static class ReadyMade
    {
        internal static readonly AffinityGroup Objects = new(ObjectsNumber, "objects");
        internal static readonly AffinityGroup Data = new(DataNumber, "data");
        internal static readonly AffinityGroup Nodes = new(NodesNumber, "nodes");
        internal static readonly AffinityGroup Physics = new(PhysicsNumber, "physics");
    }
}
