// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

public static unsafe partial class Native
{
    /// <summary>Gives free pages of the process heap and of TempJob back to the system.</summary>
    /// <remarks>Cost O(pages). Threads any.</remarks>
    /// <returns>The bytes given back.</returns>
    public static nuint Trim()
    {
        NativeLibraryCheck.Ensure();
        return NativeMethods.tn_trim();
    }

    /// <summary>Frames ended so far, by <see cref="NextFrame"/> or by C and C++ in this process.</summary>
    public static ulong Frame
    {
        get
        {
            NativeLibraryCheck.Ensure();
            return NativeMethods.tn_frame();
        }
    }

    /// <summary>Ends the frame: TempJob ages by one and what has outlived its frames (option temp_job_frames) is
    /// reported, the calling thread's Temp is emptied.</summary>
    /// <remarks>Cost O(threads + chunks). Threads one, once a frame, outside every <see cref="TempScope"/>; others may
    /// allocate and deallocate meanwhile.</remarks>
    public static void NextFrame()
    {
        NativeLibraryCheck.Ensure();
        NativeMethods.tn_next_frame();
    }

    /// <summary>Empties the calling thread's Temp: for worker threads, once a job, outside every
    /// <see cref="TempScope"/>.</summary>
    public static void ResetTemp()
    {
        NativeLibraryCheck.Ensure();
        NativeMethods.tn_reset_temp();
    }

    /// <summary>What the calling thread's Temp has seen.</summary>
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
