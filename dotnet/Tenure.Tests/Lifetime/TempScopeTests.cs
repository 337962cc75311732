// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Threading;
using Xunit;

namespace Tenure.Tests;

public sealed unsafe class TempScopeTests
{
    /// <summary>What checked builds add to the bytes in use: around each block, and where a scope begins.</summary>
    private static ulong Guards(ulong blocks, ulong scopes) =>
        Reports.CheckLevel > 0 ? 32 * blocks + 16 * scopes : 0;

    [Fact]
    public void what_was_allocated_inside_is_gone_at_the_end()
    {
        Native.ResetTemp();
        void* first;
        using (var scope = TempScope.Begin())
        {
            Span<int> elements = scope.Allocate<int>(100);
            elements.Fill(7);
            fixed (int* begin = elements)
            {
                first = begin;
            }
            Assert.Equal(400 + Guards(blocks: 1, scopes: 1), Native.TempStats.UsedBytes);
        }
        Assert.Equal(0ul, Native.TempStats.UsedBytes);
        using var next = new TempScope();
        Assert.True(next.AllocateBytes(4) == first);
    }

    [Fact]
    public void scopes_nest()
    {
        Native.ResetTemp();
        using var outer = TempScope.Begin();
        Span<byte> kept = outer.Allocate<byte>(1000);
        kept.Fill(1);
        for (int round = 0; round < 100; round++)
        {
            using var inner = TempScope.Begin();
            inner.Allocate<byte>(5000).Fill(2);
            using var innermost = TempScope.Begin();
            innermost.AllocateZeroed<long>(100).Fill(3);
        }
        Assert.Equal(-1, kept.IndexOfAnyExcept((byte)1));
        Assert.Equal(1008 + Guards(blocks: 1, scopes: 1), Native.TempStats.UsedBytes);
    }

    [Fact]
    public void the_first_scope_of_a_thread_works_as_every_other()
    {
        ulong used = ulong.MaxValue;
        var thread = new Thread(() =>
        {
            using (var scope = TempScope.Begin())
            {
                scope.Allocate<long>(1000).Fill(9);
            }
            used = Native.TempStats.UsedBytes;
        });
        thread.Start();
        thread.Join();
        Assert.Equal(0ul, used);
    }

    [Fact]
    public void a_second_dispose_does_nothing()
    {
        Native.ResetTemp();
        var outer = TempScope.Begin();
        var scope = TempScope.Begin();
        scope.Allocate<byte>(64);
        scope.Dispose();
        Span<byte> kept = outer.Allocate<byte>(64);
        scope.Dispose();
        scope.Dispose();
        Assert.Equal(64 + Guards(blocks: 1, scopes: 1), Native.TempStats.UsedBytes);
        outer.Dispose();
        Assert.Equal(0ul, Native.TempStats.UsedBytes);
    }

    [Fact]
    public void a_scope_that_using_ends_may_be_ended_before()
    {
        Native.ResetTemp();
        using var outer = TempScope.Begin();
        {
            using var scope = TempScope.Begin();
            scope.Allocate<byte>(64);
            scope.Dispose();
            outer.Allocate<byte>(48);
        }
        Assert.Equal(48ul, Native.TempStats.UsedBytes);
    }

    [Fact]
    public void a_scope_that_has_ended_gives_nothing()
    {
        Assert.Throws<ObjectDisposedException>(() =>
        {
            var scope = TempScope.Begin();
            scope.Dispose();
            scope.Allocate<int>(1);
        });
        Assert.Throws<ObjectDisposedException>(() =>
        {
            TempScope scope = default;
            scope.Dispose();
            scope.AllocateBytes(1);
        });
    }

    [Fact]
    public void arguments_are_looked_at()
    {
        Assert.Throws<ArgumentOutOfRangeException>(() =>
        {
            using var scope = TempScope.Begin();
            scope.Allocate<int>(-1);
        });
        Assert.Throws<ArgumentOutOfRangeException>(() =>
        {
            using var scope = TempScope.Begin();
            scope.AllocateBytes(1, 48);
        });
        Assert.Throws<ArgumentOutOfRangeException>(() =>
        {
            using var scope = TempScope.Begin();
            scope.AllocateBytes(1, 0);
        });
        foreach (nuint bytes in (nuint[])[nuint.MaxValue, nuint.MaxValue - 14, nuint.MaxValue - 15, (nuint)1 << 63])
        {
            Assert.Throws<OutOfMemoryException>(() =>
            {
                using var scope = TempScope.Begin();
                scope.AllocateBytes(bytes);
            });
        }
        using var zero = TempScope.Begin();
        Assert.True(zero.Allocate<int>(0).IsEmpty);
        Assert.Equal(0u, (nuint)zero.AllocateBytes(1, 4096) % 4096);
    }

    [Fact]
    public void what_passes_the_budget_overflows_and_goes_with_the_scope()
    {
        var thread = new Thread(() =>
        {
            using (var scope = TempScope.Begin())
            {
                for (int index = 0; index < 200; index++)
                {
                    Span<byte> piece = scope.Allocate<byte>(100_000);
                    piece.Fill((byte)index);
                    using var inner = TempScope.Begin();
                    inner.Allocate<byte>(70_000).Clear();
                    Assert.Equal(-1, piece.IndexOfAnyExcept((byte)index));
                }
                Assert.True(Native.TempStats.OverflowCount > 0);
            }
            Assert.Equal(0ul, Native.TempStats.UsedBytes);
        });
        thread.Start();
        thread.Join();
    }

    [Fact]
    public void a_block_from_before_that_is_freed_inside_stays_freed()
    {
        Native.ResetTemp();
        void* before = Native.Allocate(160, Lifetime.Temp);
        using (TempScope.Begin())
        {
            Native.Deallocate(before, 160, Lifetime.Temp);
        }
        Assert.Equal(0ul, Native.TempStats.UsedBytes);
    }

    [Fact]
    public void a_tag_counts_what_its_scope_took()
    {
        Native.ResetTemp();
        var tag = Tag.Named("temp scope tests");
        ulong before = tag.Usage.TempBytes;
        using (new TagScope(tag))
        {
            using var scope = TempScope.Begin();
            scope.Allocate<byte>(4096);
        }
        Assert.Equal(before + 4096, tag.Usage.TempBytes);
    }

    [Fact]
    public void an_exception_ends_the_scope()
    {
        Native.ResetTemp();
        Assert.Throws<FormatException>(() =>
        {
            using var scope = TempScope.Begin();
            _ = int.Parse(scope.AllocateZeroed<char>(64));
        });
        Assert.Equal(0ul, Native.TempStats.UsedBytes);
    }

    [Fact]
    public void an_outer_scope_gives_nothing_while_an_inner_one_is_open()
    {
        Native.ResetTemp();
        using var outer = TempScope.Begin();
        outer.Allocate<byte>(16);
        for (int way = 0; way < 4; way++)
        {
            string message = "";
            {
                using var inner = TempScope.Begin();
                using var innermost = TempScope.Begin();
                innermost.Allocate<byte>(64).Fill(1);
                try
                {
                    Ask(in outer, way);
                }
                catch (InvalidOperationException exception)
                {
                    message = exception.Message;
                }
            }
            Assert.StartsWith("This is not the innermost TempScope: 2 begun inside it are open", message, StringComparison.Ordinal);
            Ask(in outer, way); // again the innermost
        }

        static void Ask(in TempScope scope, int way)
        {
            TempScope same = scope;
            switch (way)
            {
                case 0:
                    same.Allocate<int>(4);
                    break;
                case 1:
                    same.AllocateZeroed<int>(4);
                    break;
                case 2:
                    same.AllocateBytes(4);
                    break;
                default:
                    same.AllocateBytes(4, 4096); // the long way
                    break;
            }
        }
    }

    [Fact]
    public void a_span_of_the_callers_scope_cannot_be_made_above_the_mark_of_ones_own()
    {
        // It compiles: the span may live as long as the caller's scope. Its memory would go with the inner one.
        Assert.Throws<InvalidOperationException>(() =>
        {
            var scope = TempScope.Begin();
            try
            {
                Build(ref scope);
            }
            finally
            {
                scope.Dispose();
            }
        });

        static Span<int> Build(ref TempScope of)
        {
            using var own = TempScope.Begin();
            own.Allocate<int>(100);
            return of.Allocate<int>(4);
        }
    }

    [Fact]
    public void the_scopes_of_another_thread_are_its_own()
    {
        using var outer = TempScope.Begin();
        Exception? thrown = null;
        nuint used = 0;
        var thread = new Thread(() =>
        {
            thrown = Record.Exception(() =>
            {
                using var first = TempScope.Begin();
                using var second = TempScope.Begin();
                second.Allocate<byte>(10);
                used = (nuint)Native.TempStats.UsedBytes;
            });
        });
        ulong before = Native.TempStats.UsedBytes;
        thread.Start();
        thread.Join();
        Assert.Null(thrown);
        Assert.True(used >= 10);
        Assert.Equal(before, Native.TempStats.UsedBytes);
        outer.Allocate<byte>(10).Fill(1);
        Assert.True(Native.TempStats.UsedBytes >= before + 10);
    }

    [Fact]
    public void a_scope_gives_nothing_once_an_outer_one_has_ended()
    {
        if (Reports.CheckLevel != 0)
        {
            return; // reported there: ReportsTests
        }
        var around = TempScope.Begin();
        var outer = TempScope.Begin();
        var inner = TempScope.Begin();
        outer.Dispose();
        bool refused = false;
        try
        {
            inner.AllocateBytes(1);
        }
        catch (InvalidOperationException)
        {
            refused = true;
        }
        Assert.True(refused);
        inner.Dispose();
        around.Allocate<byte>(1);
        around.Dispose();
    }
}
