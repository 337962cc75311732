// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>A promise by the calling thread not to allocate native memory.</summary>
/// <remarks>
/// <para><b>Checked</b> with the checked native library (<see cref="Reports.CheckLevel"/> of 1 or more): every
/// allocation and reallocation through Tenure, from C#, C or C++. Frees are allowed (<see cref="NoWaitScope"/> forbids
/// them). Garbage-collected allocations are
/// not checked. Under the hardened drop-in or <c>tenure watch</c>, every malloc of the thread is checked as well,
/// including the runtime's own: the runtime allocates when it compiles a method at its first call.</para>
/// <para><b>Reported</b> immediately as misuse (<see cref="ReportKind.Misuse"/>). By default the report includes the
/// native stack and the process is aborted; if <see cref="Reports.Handler"/> returns, the allocation continues.
/// <b>Cost</b> one native call at each end.</para>
/// <para><b>Threads</b> the promise applies to the thread that begins it: a ref struct cannot leave its stack. Scopes
/// nest. A copy is the same scope: dispose only one of them.</para>
/// <example><code>
/// using var promise = NoAllocScope.Begin();
/// </code></example>
/// </remarks>
public ref struct NoAllocScope : IDisposable
{
    private bool _isOpen;

    private NoAllocScope(bool isOpen) => _isOpen = isOpen;

    /// <summary>Gets a value indicating whether an allocation by the calling thread would break a promise
    /// now.</summary>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static bool IsActive
    {
        get
        {
            NativeLibraryCheck.Ensure();
            return NativeMethods.tn_no_alloc_is_active() != 0;
        }
    }

    /// <summary>Begins a scope on the calling thread.</summary>
    /// <returns>The scope; a <c>using</c> statement ends it.</returns>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static NoAllocScope Begin()
    {
        NativeLibraryCheck.Ensure();
        NativeMethods.tn_no_alloc_begin();
        return new NoAllocScope(true);
    }

    /// <summary>Ends the scope. A second call does nothing.</summary>
    public void Dispose()
    {
        if (_isOpen)
        {
            _isOpen = false;
            NativeMethods.tn_no_alloc_end();
        }
    }
}

/// <summary>Permits the calling thread to allocate despite a <see cref="NoAllocScope"/>, including one begun inside
/// this scope.</summary>
/// <remarks>Inside a <see cref="NoWaitScope"/> it permits frees and locks as well. Use it for a report, a first use, or
/// a path that is known to be rare. The code that opens the scope is
/// responsible for what it calls. Cost, threads and copies are as for <see cref="NoAllocScope"/>.
/// <example><code>
/// using var permission = AllowAllocScope.Begin();
/// </code></example>
/// </remarks>
public ref struct AllowAllocScope : IDisposable
{
    private bool _isOpen;

    private AllowAllocScope(bool isOpen) => _isOpen = isOpen;

    /// <summary>Begins a scope on the calling thread.</summary>
    /// <returns>The scope; a <c>using</c> statement ends it.</returns>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static AllowAllocScope Begin()
    {
        NativeLibraryCheck.Ensure();
        NativeMethods.tn_allow_alloc_begin();
        return new AllowAllocScope(true);
    }

    /// <summary>Ends the scope. A second call does nothing.</summary>
    public void Dispose()
    {
        if (_isOpen)
        {
            _isOpen = false;
            NativeMethods.tn_allow_alloc_end();
        }
    }
}
