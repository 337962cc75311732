// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Threading;
using Xunit;

namespace Tenure.Tests;

/// <summary>In a process that runs on jemalloc, which prints statistics at its end.</summary>
public sealed unsafe class JemMessageTests
{
    /// <summary>jemalloc.NET called its event from inside jemalloc, also when nobody listened, and let through what was thrown.</summary>
    [Fact(Explicit = true)]
    public void messages_are_heard_and_what_a_handler_throws_goes_no_further()
    {
        using var heard = new ManualResetEventSlim();
        int thread = 0;
        Assert.Equal("", Jem.MallocMessages);
        Print();
        Assert.Contains("End jemalloc statistics", Jem.MallocMessages, StringComparison.Ordinal);
        Assert.Equal(0, Jem.MallocMessageFailures);
        Action<string> throwing = _ => throw new InvalidOperationException("of a handler");
        Action<string> listening = text =>
        {
            thread = Environment.CurrentManagedThreadId;
            heard.Set();
        };
        Jem.MallocMessage += throwing;
        Jem.MallocMessage += listening;
        Print();
        Assert.True(heard.Wait(TimeSpan.FromSeconds(20), TestContext.Current.CancellationToken));
        Assert.NotEqual(Environment.CurrentManagedThreadId, thread);
        Assert.True(Jem.MallocMessageFailures > 0);
        Jem.MallocMessage -= throwing;
        Jem.MallocMessage -= listening;
        long failures = Jem.MallocMessageFailures;
        Print();
        _ = Jem.MallocMessages;
        Assert.Equal(failures, Jem.MallocMessageFailures);
    }

    /// <summary>Without a writer of its own jemalloc prints them as a message.</summary>
    private static void Print()
    {
        fixed (byte* nothingElse = "mdablxeh\0"u8)
        {
            JemallocMethods.StatsPrint(null, null, nothingElse);
        }
    }
}

/// <summary>In a process whose jemalloc prints statistics every so many bytes.</summary>
public sealed class JemMessageRefusalTests
{
    [Fact(Explicit = true)]
    public void nobody_may_listen()
    {
        Assert.Contains("stats_interval", Assert.Throws<NotSupportedException>(() => Jem.MallocMessages).Message, StringComparison.Ordinal);
        Assert.Throws<NotSupportedException>(() => Jem.MallocMessage += _ => { });
    }
}

/// <summary>In a process that has jemalloc, behind another malloc.</summary>
public sealed class JemTooLateTests
{
    [Fact(Explicit = true)]
    public void it_is_not_taken_for_the_malloc_of_the_process()
    {
        Assert.Equal(JemBackend.Tenure, Jem.Backend);
        Assert.Contains("was loaded too late", Assert.Throws<JemallocUnavailableException>(Jem.RequireJemalloc).Message, StringComparison.Ordinal);
    }
}
