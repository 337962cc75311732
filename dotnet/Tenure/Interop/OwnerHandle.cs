// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>A native object with a managed owner. It is freed once, by Dispose or by the garbage collector.</summary>
/// <remarks>
/// An owner stores the pointer beside this handle, because a SafeHandle's use count would cost a locked instruction
/// before and after every allocation. Each method of an owner keeps the owner alive until it returns, so the collector
/// does not finalize an owner in use. The caller must not dispose an owner while another thread uses it.
/// </remarks>
internal sealed unsafe class OwnerHandle : SafeHandle
{
    private readonly delegate*<void*, void> _destroy;
    private readonly string _what;
    private bool _isDisposed;

    /// <param name="native">The object, not null.</param>
    /// <param name="destroy">The function that frees the object.</param>
    /// <param name="what">The name for a leak report: "An Arena".</param>
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
