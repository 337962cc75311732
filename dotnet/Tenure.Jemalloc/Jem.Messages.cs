// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

// What jemalloc has to say.
public static unsafe partial class Jem
{
    /// <summary>Raised with each message that jemalloc would write to standard error, once somebody listens: warnings of the
    /// allocator, and statistics that are printed rather than asked for.</summary>
    /// <remarks>
    /// <para>Handlers are called on a thread of their own, one message after the other, shortly afterwards: never inside jemalloc.
    /// What a handler throws goes no further, and <see cref="MallocMessageFailures"/> counts it. Without a handler, messages
    /// are only kept for <see cref="MallocMessages"/>.</para>
    /// <para>Over Tenure's heap nothing is raised: it says what it has to say through reports.</para>
    /// </remarks>
    /// <exception cref="NotSupportedException">jemalloc is set to write in the middle of an allocation (<c>stats_interval</c>,
    /// <c>prof_gdump</c>, <c>lg_prof_interval</c>), where .NET cannot be called.</exception>
    public static event Action<string> MallocMessage
    {
        add => JemMessages.Add(value);
        remove => JemMessages.Remove(value);
    }

    /// <summary>The messages since the first use of this property or of <see cref="MallocMessage"/>: the last 64 KiB of them.</summary>
    /// <exception cref="NotSupportedException">As for <see cref="MallocMessage"/>.</exception>
    public static string MallocMessages => JemMessages.Kept();

    /// <summary>How often a handler of <see cref="MallocMessage"/> has thrown.</summary>
    public static long MallocMessageFailures => JemMessages.Failures;
}
