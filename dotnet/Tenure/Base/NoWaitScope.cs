// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>A promise by the calling thread to allocate no native memory, to free none and to take no native
/// lock.</summary>
/// <remarks>
/// <para><b>Checked</b> with the checked native library (<see cref="Reports.CheckLevel"/> of 1 or more): every
/// allocation and free through Tenure, from C#, C or C++. Not the free of a null pointer, which C# does not pass on, and
/// not that of a Temp block, which at most moves the thread's cursor. Under the hardened drop-in,
/// every malloc and free of the thread is checked as well. Under <c>tenure watch</c> also every lock that goes through
/// the C library: pthread locks, condition variables, semaphores and futexes, including the runtime's own. Not seen:
/// spin locks, <c>lock</c> statements that do not wait, and the garbage collector, unless a managed allocation inside
/// the scope starts it.</para>
/// <para><b>Reported</b> immediately as misuse (<see cref="ReportKind.Misuse"/>). By default the report includes the
/// native stack and the process is aborted; if <see cref="Reports.Handler"/> returns, the call continues. <c>tenure
/// watch</c> counts violations by place and fails with <c>--fail-on allocation,free,lock,wait</c>. Under the JIT it also
/// counts the runtime, which allocates, frees and locks when it compiles a method and when it counts the method's calls:
/// compile ahead of time, or set <c>DOTNET_TieredCompilation=0</c> and make the first calls, with their scope, in an
/// <see cref="AllowAllocScope"/>. <b>Cost</b> one native call at each end.</para>
/// <para><b>Threads</b> the promise applies to the thread that begins it: a ref struct cannot leave its stack. Scopes
/// nest, also with <see cref="NoAllocScope"/>. A copy is the same scope: dispose only one of them.</para>
/// <example><code>
/// using var promise = NoWaitScope.Begin();
/// </code></example>
/// </remarks>
public ref struct NoWaitScope : IDisposable
{
    private bool _isOpen;

    private NoWaitScope(bool isOpen) => _isOpen = isOpen;

    /// <summary>Gets a value indicating whether a free or a lock by the calling thread would break a promise
    /// now. <see cref="NoAllocScope.IsActive"/> is true then, too.</summary>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static bool IsActive
    {
        get
        {
            NativeLibraryCheck.Ensure();
            return NativeMethods.tn_no_wait_is_active() != 0;
        }
    }

    /// <summary>Begins a scope on the calling thread.</summary>
    /// <returns>The scope; a <c>using</c> statement ends it.</returns>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static NoWaitScope Begin()
    {
        NativeLibraryCheck.Ensure();
        NativeMethods.tn_no_wait_begin();
        return new NoWaitScope(true);
    }

    /// <summary>Ends the scope. A second call does nothing.</summary>
    public void Dispose()
    {
        if (_isOpen)
        {
            _isOpen = false;
            NativeMethods.tn_no_wait_end();
        }
    }
}
