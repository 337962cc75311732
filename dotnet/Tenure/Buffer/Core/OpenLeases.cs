// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>Which leases of a thread have not ended: so that of several copies of one only the first releases what it
/// holds.</summary>
/// <remarks>A lease does not leave its thread, and leases mostly end in reverse order: a few numbers, and no lock. Each
/// lease keeps this object, so that its end looks up nothing of the thread.</remarks>
internal sealed class OpenLeases
{
    [ThreadStatic]
    private static OpenLeases? t_mine;

    private ulong[] _open = new ulong[8]; // the number of the lease at each place; 0 when it has ended
    private int _count;
    private ulong _last;

    /// <summary>The calling thread's.</summary>
    internal static OpenLeases Mine
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => t_mine ?? Make();
    }

    /// <summary>A lease begins.</summary>
    /// <param name="place">Its place among the thread's.</param>
    /// <returns>Its number, which no other lease of the thread ever has.</returns>
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

    /// <summary>A lease, or a copy of it, ends.</summary>
    /// <returns>False when it had ended before.</returns>
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

    /// <summary>Those before the last one that ended before it.</summary>
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
