// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Threading;
using Xunit;

namespace Tenure.Tests;

public sealed unsafe class ScratchScopeTests
{
    [Fact]
    public void the_callers_list_in_temp_grows_while_the_callee_has_scratch_memory()
    {
        using var results = TempScope.Begin();
        TempList<int> lengths = results.CreateList<int>();
        AppendLengths("a bc def", ref lengths);
        AppendLengths("ghij", ref lengths);
        Assert.Equal([1, 2, 3, 4], lengths.AsSpan().ToArray());

        static void AppendLengths(string text, ref TempList<int> into)
        {
            using var scratch = ScratchScope.Begin();
            Span<int> found = scratch.Allocate<int>(1000);
            found.Fill(-1);
            int count = 0;
            foreach (string word in text.Split(' '))
            {
                found[count++] = word.Length;
                into.Add(word.Length);
            }
            Assert.Equal(-1, found[count]);
        }
    }

    [Fact]
    public void blocks_of_the_two_stacks_are_apart_and_the_second_is_used_again()
    {
        using var first = TempScope.Begin();
        byte* result = (byte*)first.AllocateBytes(64);
        nint place;
        using (var scratch = ScratchScope.Begin())
        {
            byte* block = (byte*)scratch.AllocateBytes(1000, 256);
            Assert.Equal(0u, (nuint)block % 256);
            new Span<byte>(block, 1000).Fill(1);
            place = (nint)block;
            Assert.True(first.AllocateBytes(16) != null); // the first stack is not closed by it
        }
        new Span<byte>(result, 64).Fill(2);
        using var again = ScratchScope.Begin();
        Assert.Equal(place, (nint)again.AllocateBytes(1000, 256));
    }

    [Fact]
    public void only_the_innermost_scope_allocates()
    {
        using var outer = ScratchScope.Begin();
        outer.AllocateZeroed<int>(10);
        using (var inner = ScratchScope.Begin())
        {
            inner.Allocate<int>(10);
            Assert.Contains("innermost", Refusal(outer));
        }
        Assert.Equal(0, outer.AllocateZeroed<int>(3)[2]);
        Assert.Equal("", Refusal(outer));

        static string Refusal(ScratchScope scope)
        {
            try
            {
                scope.AllocateBytes(1);
                return "";
            }
            catch (InvalidOperationException exception)
            {
                return exception.Message;
            }
        }
    }

    [Fact]
    public void a_scope_that_ended_and_wrong_arguments_are_refused()
    {
        var scope = ScratchScope.Begin();
        try
        {
            scope.AllocateBytes(1, 24);
            Assert.Fail("an alignment of 24 was taken");
        }
        catch (ArgumentOutOfRangeException)
        {
        }
        try
        {
            scope.Allocate<int>(-1);
            Assert.Fail("a negative count was taken");
        }
        catch (ArgumentOutOfRangeException)
        {
        }
        scope.Dispose();
        scope.Dispose();
        try
        {
            scope.AllocateBytes(1);
            Assert.Fail("an ended scope allocated");
        }
        catch (ObjectDisposedException)
        {
        }
    }

    [Fact]
    public void each_thread_has_a_second_stack_of_its_own()
    {
        using var here = ScratchScope.Begin();
        Span<int> mine = here.Allocate<int>(100);
        mine.Fill(1);
        var thread = new Thread(() =>
        {
            using var there = ScratchScope.Begin();
            there.Allocate<int>(100).Fill(2);
        });
        thread.Start();
        thread.Join();
        Assert.Equal(-1, mine.IndexOfAnyExcept(1));
    }
}
