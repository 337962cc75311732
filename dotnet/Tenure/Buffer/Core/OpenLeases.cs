// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>Records the open leases of a thread, so that of several copies of one lease only the first one disposed of
/// releases the hold.</summary>
/// <remarks>A lease does not leave its thread, and leases mostly end in reverse order, so a small array without a lock
/// is enough. Each lease stores a reference to this object, so that ending it needs no thread-local lookup.</remarks>
internal sealed class OpenLeases
{
    [ThreadStatic]
    private static OpenLeases? t_mine;

    private ulong[] _open = new ulong[8]; // the number of the lease at each place; 0 after it has ended
    private int _count;
    private ulong _last;

    /// <summary>Gets the instance of the calling thread.</summary>
    internal static OpenLeases Mine
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => t_mine ?? Make();
    }

    /// <summary>Records the start of a lease.</summary>
    /// <param name="place">The place of the lease in the thread's list.</param>
    /// <returns>The number of the lease, unique in the thread.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal ulong Begin(out int place)
    {
        int at = _count;
        ulong[] open = _open;
        if ((uint)at >= (uint)open.Length)
        {
            open = Longer();
        }
        ulong number = ++_last;
        open[at] = number;
        _count = at + 1;
        place = at;
        return number;
    }

    /// <summary>Records the end of a lease or of a copy of it.</summary>
    /// <returns>False when the lease had already ended.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool End(int place, ulong number)
    {
        ulong[] open = _open;
        if ((uint)place >= (uint)open.Length || open[place] != number)
        {
            return false;
        }
        open[place] = 0;
        if (place == _count - 1)
        {
            _count = place;
            if (place != 0 && open[place - 1] == 0)
            {
                Shrink();
            }
        }
        return true;
    }

    /// <summary>Removes leases at the end of the list that have already ended.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Shrink()
    {
        while (_count != 0 && _open[_count - 1] == 0)
        {
            _count--;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private ulong[] Longer()
    {
        Array.Resize(ref _open, 2 * _open.Length);
        return _open;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static OpenLeases Make() => t_mine = new OpenLeases();
}
