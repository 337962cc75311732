// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

// Messages from jemalloc.
public static unsafe partial class Jem
{
    /// <summary>Occurs for each message that jemalloc would write to standard error: allocator warnings and printed
    /// statistics. Messages are redirected from the first subscription.</summary>
    /// <remarks>
    /// <para>Handlers are called soon afterwards on a dedicated thread, one message at a time, and never inside
    /// jemalloc. An exception from a handler is not propagated; <see cref="MallocMessageFailures"/> counts it. Without
    /// a handler, messages are only stored for <see cref="MallocMessages"/>.</para>
    /// <para>On Tenure's heap the event never occurs: Tenure uses reports instead.</para>
    /// </remarks>
    /// <exception cref="NotSupportedException">jemalloc is configured to write during an allocation
    /// (<c>stats_interval</c>, <c>prof_gdump</c>, <c>lg_prof_interval</c>), when .NET code cannot run.</exception>
    public static event Action<string> MallocMessage
    {
        add => JemMessages.Add(value);
        remove => JemMessages.Remove(value);
    }

    /// <summary>Gets the messages since the first use of this property or of <see cref="MallocMessage"/>; at most the
    /// last 64 KiB.</summary>
    /// <exception cref="NotSupportedException">jemalloc is configured to write during an allocation; see
    /// <see cref="MallocMessage"/>.</exception>
    public static string MallocMessages => JemMessages.Kept();

    /// <summary>Gets the number of exceptions thrown by handlers of <see cref="MallocMessage"/>.</summary>
    public static long MallocMessageFailures => JemMessages.Failures;
}
