// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>The calling thread's promise not to allocate native memory.</summary>
/// <remarks>
/// <para><b>Seen</b> with the checked native library (<see cref="Reports.CheckLevel"/> of 1 and more) every allocation
/// and reallocation through Tenure, of C# as of C and C++, by the call that makes it. Frees are allowed. What the
/// garbage collector allocates is not looked at. Under the hardened drop-in or <c>tenure watch</c> every malloc of the
/// thread is seen as well, the runtime's own among them: it compiles a method at its first call.</para>
/// <para><b>Reported</b> at once, as the caller's mistake (<see cref="ReportKind.Misuse"/>), which by default writes the
/// native stack and aborts the process; where <see cref="Reports.Handler"/> returns, the allocation goes on.
/// <b>Cost</b> a call at each end.</para>
/// <para><b>Threads</b> the promise is its thread's: a ref struct does not leave its stack. Scopes nest. A copy is the
/// same scope: only one of them may be disposed.</para>
/// <example><code>
/// using var promise = NoAllocScope.Begin();
/// </code></example>
/// </remarks>
public ref struct NoAllocScope : IDisposable
{
    private bool _isOpen;

    private NoAllocScope(bool isOpen) => _isOpen = isOpen;

    /// <summary>Whether an allocation by the calling thread would break a promise now.</summary>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public static bool IsActive
    {
        get
        {
            NativeLibraryCheck.Ensure();
            return NativeMethods.tn_no_alloc_is_active() != 0;
        }
    }

    /// <summary>Begins a scope on the calling thread.</summary>
    /// <returns>The scope; <c>using</c> ends it.</returns>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public static NoAllocScope Begin()
    {
        NativeLibraryCheck.Ensure();
        NativeMethods.tn_no_alloc_begin();
        return new NoAllocScope(true);
    }

    /// <summary>Ends it. A second time does nothing.</summary>
    public void Dispose()
    {
        if (_isOpen)
        {
            _isOpen = false;
            NativeMethods.tn_no_alloc_end();
        }
    }
}

/// <summary>The permission to allocate in spite of a <see cref="NoAllocScope"/>, also of one that is begun inside: who
/// permits answers for what is called.</summary>
/// <remarks>For a report, a first use, a path that is known to be rare. Cost, threads and copies as
/// <see cref="NoAllocScope"/>.
/// <example><code>
/// using var permission = AllowAllocScope.Begin();
/// </code></example>
/// </remarks>
public ref struct AllowAllocScope : IDisposable
{
    private bool _isOpen;

    private AllowAllocScope(bool isOpen) => _isOpen = isOpen;

    /// <summary>Begins a scope on the calling thread.</summary>
    /// <returns>The scope; <c>using</c> ends it.</returns>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public static AllowAllocScope Begin()
    {
        NativeLibraryCheck.Ensure();
        NativeMethods.tn_allow_alloc_begin();
        return new AllowAllocScope(true);
    }

    /// <summary>Ends it. A second time does nothing.</summary>
    public void Dispose()
    {
        if (_isOpen)
        {
            _isOpen = false;
            NativeMethods.tn_allow_alloc_end();
        }
    }
}
