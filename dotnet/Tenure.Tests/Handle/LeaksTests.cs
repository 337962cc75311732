// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using Xunit;

namespace Tenure.Tests;

public sealed class LeaksTests
{
    [Fact]
    public void a_scope_in_which_all_is_freed_says_nothing()
    {
        using (new LeakScope())
        {
            using var buffer = new FixedBuffer<int>(10);
            using var array = new SafeArray<int>(10);
            using var huge = new HugeArray<int>(10);
            using var text = new FixedUtf8String("text");
        }
    }

    [Fact]
    public void a_scope_in_which_something_is_left_throws_with_a_listing()
    {
        FixedBuffer<long> left = default;
        var exception = Assert.Throws<LeakException>(() =>
        {
            using var scope = new LeakScope();
            left = new FixedBuffer<long>(5);
            left.Acquire();
            new FixedBuffer<int>(3).Free();
        });
        LiveHandle live = Assert.Single(exception.Live);
        Assert.Equal(left.Handle, live.Handle);
        Assert.Equal("FixedBuffer<Int64>", live.Kind);
        Assert.Equal(40, live.Size);
        Assert.Equal(1, live.Holders);
        Assert.Contains("FixedBuffer<Int64> of 40 bytes at 0x", exception.Message, StringComparison.Ordinal);
        Assert.Contains("held 1 time", exception.Message, StringComparison.Ordinal);
        Assert.Contains("1 handle is live, 40 bytes in total.", exception.Message, StringComparison.Ordinal);
        left.Release();
        left.Free();
    }

    [Fact]
    public void what_was_made_before_or_elsewhere_is_not_the_scopes()
    {
        var before = new FixedBuffer<int>(1);
        FixedBuffer<int> elsewhere = default;
        using (new LeakScope())
        {
            var thread = new System.Threading.Thread(() => elsewhere = new FixedBuffer<int>(1));
            thread.UnsafeStart();
            thread.Join();
        }
        before.Free();
        elsewhere.Free();
    }

    [Fact]
    public async Task a_scope_sees_what_the_tasks_inside_it_make()
    {
        FixedBuffer<int> left = default;
        await Assert.ThrowsAsync<LeakException>(async () =>
        {
            using var scope = new LeakScope();
            await Task.Yield();
            await Task.Run(() => left = new FixedBuffer<int>(1), TestContext.Current.CancellationToken);
        });
        left.Free();
    }

    [Fact]
    public unsafe void a_scope_of_the_process_sees_what_native_code_makes_too()
    {
        // Other tests make and free meanwhile, so that the scope is only asked, and never disposed of.
        using var before = new FixedBuffer<int>(1);
        var scope = new LeakScope(LeakScopeReach.Process);
        NativeHandle made;
        Assert.Equal(NativeMethods.Ok, NativeMethods.tn_handle_allocate(100, 64, 1, HandleMemory.Kind("native"), &made));
        NativeHandle handle = made;
        Assert.Equal("native", scope.Live().Single(each => each.Handle == handle).Kind);
        Assert.DoesNotContain(scope.Live(), each => each.Handle == before.Handle);
        HandleTable.Free(handle);
        Assert.DoesNotContain(scope.Live(), each => each.Handle == handle);
    }

    [Fact]
    public void an_inner_scope_tells_its_own_and_the_outer_one_all()
    {
        FixedBuffer<int> first = default, second = default;
        var outer = Assert.Throws<LeakException>(() =>
        {
            using var scope = new LeakScope();
            first = new FixedBuffer<int>(1);
            var inner = Assert.Throws<LeakException>(() =>
            {
                using var nested = new LeakScope();
                second = new FixedBuffer<int>(2);
            });
            Assert.Equal(second.Handle, Assert.Single(inner.Live).Handle);
        });
        Assert.Equal(2, outer.Live.Count);
        first.Free();
        second.Free();
    }

    [Fact]
    public void a_snapshot_and_a_report_list_what_is_live_the_oldest_first()
    {
        using var buffer = new FixedBuffer<Guid>(3);
        LiveHandle live = Leaks.Snapshot().Single(each => each.Handle == buffer.Handle);
        Assert.Equal(48, live.Size);
        Assert.True(live.Age < TimeSpan.FromMinutes(5));
        using var text = new StringWriter();
        int count = Leaks.Report(text);
        Assert.True(count >= 1);
        Assert.Contains("FixedBuffer<Guid> of 48 bytes", text.ToString(), StringComparison.Ordinal);
        Assert.Equal(0, Leaks.Report(TextWriter.Null, TimeSpan.FromDays(1000)));
        Assert.Throws<ArgumentNullException>(() => Leaks.Report(null!));
    }

    [Fact]
    public void a_stack_is_kept_while_that_is_wanted()
    {
        Leaks.CaptureStacks = true;
        try
        {
            using var buffer = new FixedBuffer<int>(3);
            LiveHandle live = Leaks.Snapshot().Single(each => each.Handle == buffer.Handle);
            Assert.Contains(nameof(a_stack_is_kept_while_that_is_wanted), live.Stack, StringComparison.Ordinal);
            Assert.Contains(nameof(a_stack_is_kept_while_that_is_wanted), live.ToString(), StringComparison.Ordinal);
        }
        finally
        {
            Leaks.CaptureStacks = false;
        }
        using var other = new FixedBuffer<int>(3);
        Assert.Null(Leaks.Snapshot().Single(each => each.Handle == other.Handle).Stack);
    }

    [Fact]
    public void addresses_of_native_code_are_told_by_file_and_place()
    {
        string? text = StackText.Of([System.Runtime.InteropServices.NativeLibrary.GetExport(
            System.Runtime.InteropServices.NativeLibrary.Load(NativeMethods.Library, typeof(FixedBuffer).Assembly, null), "tn_malloc"), 1]);
        // Other systems have no list of mapped files to read.
        string first = OperatingSystem.IsLinux() ? @"libtenure\.so[.\d]*\+0x[0-9a-f]+" : "0x[0-9a-f]+";
        Assert.Matches(@"^   at " + first + @"\n   at 0x1$", text);
        Assert.Null(StackText.Of([]));
    }

    [Fact]
    public void an_exception_on_its_way_is_not_hidden_by_a_leak()
    {
        FixedBuffer<int> left = default;
        var exception = Assert.Throws<FormatException>((Action)(() =>
        {
            using var scope = new LeakScope();
            left = new FixedBuffer<int>(1);
            throw new FormatException("of the block");
        }));
        Assert.Equal("of the block", exception.Message);
        left.Free();
    }

    [Fact]
    public async Task an_exception_of_a_task_is_not_hidden_either()
    {
        FixedBuffer<int> left = default;
        await Assert.ThrowsAsync<FormatException>(async () =>
        {
            using var scope = new LeakScope();
            left = new FixedBuffer<int>(1);
            await Task.Yield();
            throw new FormatException("of the block");
        });
        left.Free();
    }

    [Fact]
    public void a_scope_in_a_catch_block_throws_as_every_other()
    {
        FixedBuffer<int> left = default;
        Assert.Throws<LeakException>(() =>
        {
            try
            {
                throw new FormatException();
            }
            catch (FormatException)
            {
                using var scope = new LeakScope();
                left = new FixedBuffer<int>(1);
            }
        });
        left.Free();
    }

    [Fact]
    public void every_type_is_listed_by_its_own_name()
    {
        using var text = new FixedUtf8String("text");
        using var array = new SafeArray<int>(3);
        using SafeArray<int> values = [1, 2, 3];
        using var huge = new HugeArray<long>(3);
        using var file = new HugeArray<long>(null, 3);
        (NativeHandle Handle, string Kind)[] wanted =
        [
            (text.Handle, "FixedUtf8String"), (array.Handle, "SafeArray<Int32>"), (values.Handle, "SafeArray<Int32>"),
            (huge.Handle, "HugeArray<Int64>"), (file.Handle, "HugeArray<Int64> of a file"),
        ];
        System.Collections.Generic.IReadOnlyList<LiveHandle> live = Leaks.Snapshot();
        Assert.All(wanted, each => Assert.Equal(each.Kind, live.Single(one => one.Handle == each.Handle).Kind));
    }
}
