// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Threading;

namespace Tenure;

/// <summary>Methods of the program that are called at the begin and end of each slow call and of each block of native
/// memory, from C#, C or C++: for a profiler, a log, or counters.</summary>
/// <remarks>
/// <para><b>Slow calls</b> are the calls that a thread's cache or the current chunk cannot serve: refills, new chunks
/// and segments, large blocks, flushes. They are what makes allocations take long. Every end follows its begin on the
/// same thread; calls nest.</para>
/// <para><b>Blocks</b> of heaps are told one by one, also those of <see cref="Lifetime.Persistent"/>. Of
/// <see cref="Arena"/>, pools, groups, TempJob, frame memory, and Temp past its range, the chunks are told that they
/// take from the system. What a thread caches before is told from its next slow call on.</para>
/// <para><b>Inside a hook</b> the part of the library that calls it may hold its lock. A hook may read the clock, count,
/// write to arrays, and allocate managed memory. It must not call Tenure or dispose an object of Tenure, and must not
/// wait for a lock that another thread holds while it calls Tenure: both can deadlock. Slow calls and blocks that a hook
/// causes nevertheless are not told. What a hook throws is written to standard error and not propagated.</para>
/// <para><b>Threads</b> hooks are called on the thread of the call, at the same time on several threads, including the
/// finalizer thread and threads of native code. They are not called when a thread ends, where the runtime no longer
/// runs managed code: the chunks that a thread leaves are freed untold, and a later block may have their addresses.
/// They are not called after <see cref="AppDomain.ProcessExit"/>.</para>
/// <para><b>Cost</b> without hooks none on the quick paths. With hooks for blocks, blocks of
/// <see cref="Lifetime.Persistent"/> come from the heap itself instead of the thread's cache: about 80 ns instead of a
/// few, and the hooks' own time.</para>
/// <example><code>
/// AllocationHooks.Installed = new AllocationHooks
/// {
///     BlockBegin = (block, bytes) => Interlocked.Increment(ref count),
/// };
/// </code></example>
/// </remarks>
public sealed class AllocationHooks
{
    private static readonly object _gate = new();
    private static AllocationHooks? _installed;
    private static bool _hearsExit;
    private static bool _isOver;

    /// <summary>Gets the method that is called when a slow call begins; null for none.</summary>
    /// <value>It is passed the part of the library, as "of Temp" or "of the process heap", and the bytes that are asked
    /// for: zero in frees.</value>
    public Action<string, nuint>? CallBegin { get; init; }

    /// <summary>Gets the method that is called when a slow call ends; null for none.</summary>
    /// <value>It is passed the part of the library. It is called only if the hooks were installed when the call
    /// began.</value>
    public Action<string>? CallEnd { get; init; }

    /// <summary>Gets the method that is called when a block is allocated; null for none.</summary>
    /// <value>It is passed the address and the bytes that the caller knows. A block that grows or shrinks in place ends
    /// and begins again.</value>
    public Action<nint, nuint>? BlockBegin { get; init; }

    /// <summary>Gets the method that is called before a block is freed; null for none.</summary>
    /// <value>It is passed the address. The block may have begun before the hooks were installed.</value>
    public Action<nint>? BlockEnd { get; init; }

    /// <summary>Gets or sets the hooks of the process; null, the default, for none. Set them when the program
    /// starts.</summary>
    /// <remarks>Any thread may set them. Another thread may call the hooks before for a moment. Native code shares the
    /// one place for hooks with this property: what is set last counts.</remarks>
    /// <exception cref="InvalidOperationException">Native code has used up the places for hooks: eight different ones
    /// in a process. Nothing has changed.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static AllocationHooks? Installed
    {
        get => Volatile.Read(ref _installed);
        set
        {
            NativeLibraryCheck.Ensure();
            lock (_gate)
            {
                if (!_isOver)
                {
                    Install(value);
                }
            }
        }
    }

    private static void Install(AllocationHooks? hooks)
    {
        AllocationHooks? before = _installed;
        Volatile.Write(ref _installed, hooks); // the first call of native code finds them
        if (!HookCalls.Install(hooks))
        {
            Volatile.Write(ref _installed, before);
            throw new InvalidOperationException("The hooks were not installed: native code has installed eight different "
                + "hooks in this process, which is the most. Install the same ones again instead of new ones.");
        }
        if (!_hearsExit && hooks is not null)
        {
            _hearsExit = true;
            AppDomain.CurrentDomain.ProcessExit += static (_, _) => End();
        }
    }

    /// <summary>The destructors of native code run after the runtime has ended, and call no hooks of ours.</summary>
    private static void End()
    {
        lock (_gate)
        {
            _isOver = true;
            Install(null);
        }
    }
}
