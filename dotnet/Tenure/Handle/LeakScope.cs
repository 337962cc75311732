// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>Specifies which memory a <see cref="LeakScope"/> checks.</summary>
public enum LeakScopeReach
{
    /// <summary>Memory allocated by C# in the calling method's flow: its thread, and the tasks that it starts and
    /// awaits.</summary>
    Flow,

    /// <summary>Memory allocated anywhere in the process, including C and C++. Concurrent tests affect each
    /// other.</summary>
    Process,
}

/// <summary>Asserts in a test that all memory allocated in a scope is freed in it.</summary>
/// <remarks>
/// <code>
/// using (new LeakScope())
/// {
///     using var buffer = new FixedBuffer&lt;int&gt;(100);
/// }   // throws LeakException with a listing when something is left
/// </code>
/// <para>The listing includes stacks while <see cref="Leaks.CaptureStacks"/> is set. Scopes can be nested.</para>
/// <para>When an exception leaves the block, or the scope ends in a catch block that it did not begin in, the scope
/// does not replace that exception. It sends the listing as a report instead (<see cref="ReportKind.Leak"/>, see
/// <see cref="Reports"/>). In a program compiled ahead of time, the runtime does not say whether an exception is being
/// thrown, so <see cref="LeakException"/> replaces it.</para>
/// </remarks>
public sealed class LeakScope : IDisposable
{
    private readonly object _lock = new();
    private readonly HashSet<ulong> _noted = [];
    private readonly LeakScopeReach _reach;
    private readonly nint _exceptionAtBegin = ExceptionInFlight();
    private bool _ended;

    /// <summary>Begins a scope.</summary>
    /// <param name="reach">The memory to check.</param>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public LeakScope(LeakScopeReach reach = LeakScopeReach.Flow)
    {
        _reach = reach;
        if (reach == LeakScopeReach.Process)
        {
            foreach (LiveHandle live in HandleListing.Live())
            {
                _noted.Add(live.Handle.Identity);
            }
            return;
        }
        NativeLibraryCheck.Ensure();
        Outer = HandleWatch.Scope;
        HandleWatch.Scope = this;
        HandleWatch.Begin();
    }

    internal LeakScope? Outer { get; }

    /// <summary>Lists the memory that was allocated in the scope and is still live.</summary>
    /// <returns>The live handles; empty when all memory was freed.</returns>
    public IReadOnlyList<LiveHandle> Live()
    {
        var live = new List<LiveHandle>();
        lock (_lock)
        {
            if (_reach == LeakScopeReach.Flow && !AnyNotedIsLive())
            {
                return live;
            }
            bool listed = _reach == LeakScopeReach.Flow;
            foreach (LiveHandle handle in HandleListing.Live())
            {
                if (_noted.Contains(handle.Handle.Identity) == listed)
                {
                    live.Add(handle);
                }
            }
        }
        return live;
    }

    /// <summary>Ends the scope. A second call does nothing.</summary>
    /// <exception cref="LeakException">Memory allocated in the scope is still live, and no exception is being
    /// thrown.</exception>
    public void Dispose()
    {
        if (_ended)
        {
            return;
        }
        _ended = true;
        if (_reach == LeakScopeReach.Flow)
        {
            HandleWatch.End();
            if (HandleWatch.Scope == this)
            {
                HandleWatch.Scope = Outer;
            }
        }
        IReadOnlyList<LiveHandle> live = Live();
        if (live.Count == 0)
        {
            return;
        }
        var leak = new LeakException(live);
        nint exception = ExceptionInFlight();
        if (exception == 0 || exception == _exceptionAtBegin)
        {
            throw leak;
        }
        Reports.TellLeak(leak.Message);
    }

    /// <summary>Returns the exception that the calling thread is handling; zero when there is none or the runtime does
    /// not say.</summary>
    private static nint ExceptionInFlight()
    {
        try
        {
            return Marshal.GetExceptionPointers();
        }
        catch (PlatformNotSupportedException)
        {
            return 0;
        }
    }

    internal void Note(in NativeHandle handle)
    {
        lock (_lock)
        {
            _noted.Add(handle.Identity);
        }
    }

    private bool AnyNotedIsLive()
    {
        foreach (ulong identity in _noted)
        {
            if (new NativeHandle(0, 0, (uint)(identity >> 32), (uint)identity).IsLive)
            {
                return true;
            }
        }
        return false;
    }
}

/// <summary>The exception thrown when memory allocated in a <see cref="LeakScope"/> was not freed. The message lists
/// it.</summary>
public sealed class LeakException : Exception
{
    /// <summary>Initializes a new instance without a listing.</summary>
    public LeakException()
        : base("Native memory was not freed.")
    {
    }

    /// <summary>Initializes a new instance with a message.</summary>
    /// <param name="message">The message.</param>
    public LeakException(string message)
        : base(message)
    {
    }

    /// <summary>Initializes a new instance with a message and an inner exception.</summary>
    /// <param name="message">The message.</param>
    /// <param name="innerException">The exception that caused this one.</param>
    public LeakException(string message, Exception innerException)
        : base(message, innerException)
    {
    }

    internal LeakException(IReadOnlyList<LiveHandle> live)
        : base("Memory was allocated in a LeakScope and not freed there:\n" + Leaks.Listing(live)) => Live = live;

    /// <summary>Gets the handles that were not freed.</summary>
    public IReadOnlyList<LiveHandle> Live { get; } = [];
}
