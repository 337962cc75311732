// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

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
