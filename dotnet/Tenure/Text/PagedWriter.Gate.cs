// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Threading;

namespace Tenure;

// Who uses the memory. It is not freed while anyone does.
public sealed unsafe partial class PagedWriter
{
    private const int Closed = 1 << 30; // no write runs: pages are refused
    private const int Disposed = 1 << 29;
    private const int Users = Disposed - 1;

    /// <summary>The number of pages that run, one more while a write runs, and the two flags. Only an open gate lets
    /// users in, so the one that leaves a closed gate last is alone.</summary>
    private int _gate = Closed;

    private bool IsDisposed => (Volatile.Read(ref _gate) & Disposed) != 0;

    /// <summary>Opens the gate for the pages of a write, which is its first user.</summary>
    private void Open()
    {
        while (Interlocked.CompareExchange(ref _gate, 1, Closed) != Closed)
        {
            ThrowUnlessIdle();
        }
    }

    private bool TryEnter()
    {
        int seen = Volatile.Read(ref _gate);
        while ((seen & Closed) == 0)
        {
            int now = Interlocked.CompareExchange(ref _gate, seen + 1, seen);
            if (now == seen)
            {
                return true;
            }
            seen = now;
        }
        return false;
    }

    private void Leave()
    {
        if (Interlocked.Decrement(ref _gate) == (Closed | Disposed))
        {
            FreeBlock();
        }
    }

    private int Close() => Interlocked.Or(ref _gate, Closed);

    private void CloseForever()
    {
        int before = Interlocked.Or(ref _gate, Closed | Disposed);
        if (before == Closed)
        {
            FreeBlock();
        }
    }

    /// <summary>Closes the gate behind a write whose pages should have ended.</summary>
    private void ThrowUnlessAlone()
    {
        int others = (Close() & Users) - 1;
        ObjectDisposedException.ThrowIf(IsDisposed, this);
        if (others != 0)
        {
            throw new InvalidOperationException(
                $"The executor of a PagedWriter returned while {others} calls were still running. It must wait for all calls.");
        }
    }

    private void ThrowUnlessIdle()
    {
        ObjectDisposedException.ThrowIf(IsDisposed, this);
        int users = Volatile.Read(ref _gate) & Users;
        if (users != 0)
        {
            throw new InvalidOperationException(
                "Pages of a PagedWriter are still running. Wait until all calls of its executor have returned.");
        }
    }
}
