// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>Whose memory a <see cref="LeakScope"/> looks at.</summary>
public enum LeakScopeReach
{
    /// <summary>What C# makes in the calling method's flow: its thread, and the tasks that it starts and
    /// awaits.</summary>
    Flow,

    /// <summary>What anybody makes in the process, in C and C++ too. Tests that run at the same time disturb each
    /// other.</summary>
    Process,
}

/// <summary>What is made inside must be freed inside: a test's assertion.</summary>
/// <remarks>
/// <code>
/// using (new LeakScope())
/// {
///     using var buffer = new FixedBuffer&lt;int&gt;(100);
/// }   // throws LeakException with a listing when something is left
/// </code>
/// <para>Stacks are in the listing while <see cref="Leaks.CaptureStacks"/> is set. Scopes nest.</para>
/// <para>When the block is left by an exception, or the scope is ended in a catch block that it did not begin in, that
/// exception is what counts: nothing is thrown over it, and the listing is told as a report
/// (<see cref="ReportKind.Leak"/>, see <see cref="Reports"/>). In a program compiled ahead of time, whose runtime does
/// not say whether an exception is on its way, <see cref="LeakException"/> takes its place.</para>
/// </remarks>
public sealed class LeakScope : IDisposable
{
    private readonly object _lock = new();
    private readonly HashSet<ulong> _noted = [];
    private readonly LeakScopeReach _reach;
    private readonly nint _exceptionAtBegin = ExceptionInFlight();
    private bool _ended;

    /// <summary>Begins a scope.</summary>
    /// <param name="reach">Whose memory is looked at.</param>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
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

    /// <summary>What was made inside and is still live, so far.</summary>
    /// <returns>Nothing when all of it was freed.</returns>
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

    /// <summary>Ends the scope. A second time does nothing.</summary>
    /// <exception cref="LeakException">Something that was made inside is still live, and no exception is on its
    /// way.</exception>
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

    /// <summary>Which exception the calling thread is handling; zero for none, and where the runtime does not
    /// say.</summary>
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

/// <summary>Something that was made in a <see cref="LeakScope"/> was not freed there. The message lists it.</summary>
public sealed class LeakException : Exception
{
    /// <summary>Without a listing.</summary>
    public LeakException()
        : base("Native memory was not freed.")
    {
    }

    /// <summary>With a sentence.</summary>
    /// <param name="message">The sentence.</param>
    public LeakException(string message)
        : base(message)
    {
    }

    /// <summary>With a sentence and a cause.</summary>
    /// <param name="message">The sentence.</param>
    /// <param name="innerException">The cause.</param>
    public LeakException(string message, Exception innerException)
        : base(message, innerException)
    {
    }

    internal LeakException(IReadOnlyList<LiveHandle> live)
        : base("Made inside a LeakScope and not freed there:\n" + Leaks.Listing(live)) => Live = live;

    /// <summary>What was not freed.</summary>
    public IReadOnlyList<LiveHandle> Live { get; } = [];
}
