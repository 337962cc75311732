// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.IO;

namespace Tenure;

/// <summary>A profile of the process heap: which call stacks hold its memory, and how much each has allocated.</summary>
/// <remarks>
/// <para>One allocated byte in so many is chosen, and its block recorded with the stack of its allocation. Everything that
/// <see cref="Native"/>, buffers and lists with a persistent lifetime allocate is part of it. <c>tenure profile FILE</c>
/// shows the file; start the program with <c>DOTNET_PerfMapEnabled=1</c>, so that managed methods have names.</para>
/// <para>While no profile is recorded, it costs nothing. A recorded block costs microseconds. All members may be called
/// from any thread.</para>
/// </remarks>
public static unsafe class HeapProfile
{
    private const int AlreadyStarted = 9;
    private const int NotStarted = 10;
    private const int Unsupported = 6;
    private const ulong MaxMeanBytes = 1ul << 30;

    /// <summary>Whether a profile is being recorded.</summary>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static bool IsRunning
    {
        get
        {
            NativeLibraryCheck.Ensure();
            return NativeMethods.tn_profile_is_running() != 0;
        }
    }

    /// <summary>Begins a profile and forgets the last one. Blocks that are live already are not in it.</summary>
    /// <param name="meanBytes">Allocated bytes between two that are recorded, on average: up to 2^30. Zero: the option
    /// profile_sample_bytes, 512 KiB. With less, the estimates are more precise and the program is slower.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="meanBytes"/> is more than 2^30.</exception>
    /// <exception cref="InvalidOperationException">A profile is being recorded.</exception>
    /// <exception cref="NotSupportedException">The heap's blocks come from the process's malloc.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static void Start(ulong meanBytes = 0)
    {
        NativeLibraryCheck.Ensure();
        if (meanBytes > MaxMeanBytes)
        {
            Throw.OutOfRange(nameof(meanBytes), meanBytes, "The mean must be at most 2^30 bytes.");
        }
        switch (NativeMethods.tn_profile_start(meanBytes))
        {
            case NativeMethods.Ok:
                return;
            case AlreadyStarted:
                throw new InvalidOperationException(
                    "A heap profile is being recorded already, perhaps by TENURE_PROFILE=1. Stop it first.");
            case Unsupported:
                throw new NotSupportedException(
                    "The heap's blocks come from the process's malloc (option passthrough), which has no profile here.");
            default:
                throw new InvalidOperationException("The heap profile could not be started.");
        }
    }

    /// <summary>Ends the profile. What it has recorded can be saved until the next start.</summary>
    /// <exception cref="InvalidOperationException">No profile is being recorded.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static void Stop()
    {
        NativeLibraryCheck.Ensure();
        if (NativeMethods.tn_profile_stop() == NotStarted)
        {
            throw new InvalidOperationException("No heap profile is being recorded. Start one with HeapProfile.Start.");
        }
    }

    /// <summary>Writes the profile to a file for <c>tenure profile</c>. The file appears under its name when it is
    /// complete, and replaces one of that name.</summary>
    /// <param name="path">The file.</param>
    /// <param name="contents">What the file contains.</param>
    /// <exception cref="ArgumentException"><paramref name="path"/> is empty.</exception>
    /// <exception cref="InvalidOperationException">No profile has been started.</exception>
    /// <exception cref="IOException">The file cannot be written.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static void Save(string path, ProfileContents contents = ProfileContents.Stacks)
    {
        ArgumentException.ThrowIfNullOrEmpty(path);
        NativeLibraryCheck.Ensure();
        using var text = new Utf8Text(path, stackalloc byte[Utf8Text.StackBytes]);
        int status;
        fixed (byte* bytes = text.Bytes)
        {
            nuint length = (nuint)text.Bytes.Length;
            status = contents == ProfileContents.StacksAndPages
                ? NativeMethods.tn_profile_save_with_pages(bytes, length)
                : NativeMethods.tn_profile_save(bytes, length);
        }
        if (status == NotStarted)
        {
            throw new InvalidOperationException("No heap profile has been started. Start one with HeapProfile.Start.");
        }
        if (status != NativeMethods.Ok)
        {
            throw new IOException(
                $"The heap profile could not be written to \"{path}\". Name a file in a folder that exists and has room.");
        }
    }
}
