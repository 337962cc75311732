// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>A native object that belongs to a managed owner; given back once, by Dispose or by the garbage
/// collector.</summary>
/// <remarks>
/// Owners keep the pointer beside this handle, because the count that a SafeHandle keeps of its users would be a locked
/// instruction before and after every allocation. Each of their methods keeps its owner alive to its end, so the
/// collector takes none that is being used; that nobody disposes one meanwhile is the caller's part.
/// </remarks>
internal sealed unsafe class OwnerHandle : SafeHandle
{
    private readonly delegate*<void*, void> _destroy;
    private readonly string _what;
    private bool _isDisposed;

    /// <param name="native">The object, not null.</param>
    /// <param name="destroy">Takes it back.</param>
    /// <param name="what">For a leak report: "An Arena".</param>
    internal OwnerHandle(void* native, delegate*<void*, void> destroy, string what)
        : base(0, ownsHandle: true)
    {
        _destroy = destroy;
        _what = what;
        SetHandle((nint)native);
    }

    /// <inheritdoc/>
    public override bool IsInvalid => handle == 0;

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        _isDisposed |= disposing;
        base.Dispose(disposing);
    }

    /// <inheritdoc/>
    protected override bool ReleaseHandle()
    {
        if (!_isDisposed)
        {
            Reports.TellLeakedOwner(_what);
        }
        _destroy((void*)handle);
        return true;
    }
}
