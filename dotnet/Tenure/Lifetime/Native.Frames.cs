// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

public static unsafe partial class Native
{
    /// <summary>Returns free pages of the process heap and of TempJob to the system.</summary>
    /// <remarks>Cost: O(pages). Any thread may call it.</remarks>
    /// <returns>The number of bytes returned.</returns>
    public static nuint Trim()
    {
        NativeLibraryCheck.Ensure();
        return NativeMethods.tn_trim();
    }

    /// <summary>Gets the number of frames ended so far, by <see cref="NextFrame"/> or by C and C++ code in this
    /// process.</summary>
    public static ulong Frame
    {
        get
        {
            NativeLibraryCheck.Ensure();
            return NativeMethods.tn_frame();
        }
    }

    /// <summary>Ends the frame: TempJob blocks age by one frame, blocks older than their frames (option
    /// temp_job_frames) are reported, and the calling thread's Temp is emptied.</summary>
    /// <remarks>Cost: O(threads + chunks). Call it from one thread, once per frame, outside every
    /// <see cref="TempScope"/>; other threads may allocate and deallocate meanwhile.</remarks>
    public static void NextFrame()
    {
        NativeLibraryCheck.Ensure();
        NativeMethods.tn_next_frame();
    }

    /// <summary>Empties the calling thread's Temp. Worker threads call it once per job, outside every
    /// <see cref="TempScope"/>.</summary>
    public static void ResetTemp()
    {
        NativeLibraryCheck.Ensure();
        NativeMethods.tn_reset_temp();
    }

    /// <summary>Prepares the calling thread, so that its next blocks do not wait for system calls and page
    /// faults.</summary>
    /// <remarks>Blocks count with their sizes rounded up to 16, those of TempJob, up to 16 KiB each, with 8 bytes more.
    /// Persistent opens only the thread's cache, whatever the size. Cost: a page fault or less per page of 4 KiB.</remarks>
    /// <param name="bytes">The number of bytes; those past Temp's budget are not prepared.</param>
    /// <param name="lifetime">The lifetime of the next blocks.</param>
    /// <returns><c>true</c> if the memory is ready. <c>false</c> if nothing, or not all of it, was prepared: when out of
    /// memory, which releases TempJob's unused chunks; for more than 1 GiB of TempJob; and for Temp after an overflow,
    /// until the thread's Temp fits its budget again. Blocks that come from malloc (<c>TENURE_PASSTHROUGH</c>, and under
    /// <c>tenure watch</c> without <c>--tenure own</c>) need no preparation: <c>true</c>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The lifetime is not valid.</exception>
    public static bool WarmUp(nuint bytes, Lifetime lifetime)
    {
        Throw.UnlessLifetime(lifetime);
        QuickThread.Attach();
        NativeLibraryCheck.Ensure();
        return NativeMethods.tn_warm_up(bytes, (uint)lifetime) != 0;
    }

    /// <summary>Gets the statistics of the calling thread's Temp.</summary>
    public static TempStats TempStats
    {
        get
        {
            NativeLibraryCheck.Ensure();
            var seen = new NativeTempStats();
            NativeMethods.tn_temp_get_stats(&seen);
            return new TempStats
            {
                BudgetBytes = seen.BudgetBytes,
                UsedBytes = seen.UsedBytes,
                CommittedBytes = seen.CommittedBytes,
                OverflowCount = seen.OverflowCount,
                OverflowBytes = seen.OverflowBytes,
                OverflowPeakBytes = seen.OverflowPeakBytes,
            };
        }
    }
}
