// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.IO;
using Xunit;

namespace Tenure.Tests;

/// <summary>What a builder refuses, and values that do not format themselves as they should.</summary>
public sealed class Utf8BuilderMisuseTests
{
    private enum Fruit
    {
        Pear = 7,
    }

    [Fact]
    public void misuse_throws()
    {
        Assert.Throws<ArgumentException>(() => new Utf8Builder(Lifetime.Temp).Dispose());
        Assert.Throws<ArgumentOutOfRangeException>(() => new Utf8Builder(Lifetime.Persistent, -1).Dispose());
        Assert.Throws<ObjectDisposedException>(() =>
        {
            var text = new Utf8Builder(Lifetime.Persistent);
            text.Dispose();
            Assert.Equal(0, text.Length);
            text.Append('x');
        });
        Assert.Throws<InvalidOperationException>(() =>
        {
            using var outer = TempScope.Begin();
            Utf8Builder text = outer.CreateUtf8Builder(4);
            using var inner = TempScope.Begin();
            text.Append("1234"); // fits
            text.Append("5");
        });
        Assert.Throws<InvalidOperationException>(() =>
        {
            using var outer = TempScope.Begin();
            using var inner = TempScope.Begin();
            outer.CreateUtf8Builder();
        });
        Assert.Throws<FormatException>(() =>
        {
            var text = new Utf8Builder(new byte[10]);
            text.Append(new Liar());
        });
        Assert.Throws<FormatException>(() =>
        {
            using var text = new Utf8Builder(Lifetime.Persistent);
            text.Append(Guid.Empty, "Q");
        });
        Assert.Throws<ArgumentOutOfRangeException>(() =>
        {
            using var text = new Utf8Builder(Lifetime.Persistent);
            text.Append('ß', 3);
        });
    }

    [Fact]
    public void a_disposed_builder_throws()
    {
        Refused(static (ref Utf8Builder text) => _ = text.ToString());
        Refused(static (ref Utf8Builder text) => _ = text.WrittenSpan.Length);
        Refused(static (ref Utf8Builder text) => text.WriteTo(Stream.Null));
        Refused(static (ref Utf8Builder text) => text.Append("words"));
        Refused(static (ref Utf8Builder text) => text.Append("words"u8));
        Refused(static (ref Utf8Builder text) => text.Append(7));
        Refused(static (ref Utf8Builder text) => text.Append($"{7}"));
        Refused(static (ref Utf8Builder text) => text.AppendLine());
        Refused(static (ref Utf8Builder text) => text.AppendFixed(7, 2));
        Refused(static (ref Utf8Builder text) => text.AppendEnum(Fruit.Pear));
        Refused(static (ref Utf8Builder text) => _ = text.GetSpan().Length);
        Refused(static (ref Utf8Builder text) => text.Advance(0));
        Refused(static (ref Utf8Builder text) => text.Clear());

        static void Refused(Use use)
        {
            var text = new Utf8Builder(Lifetime.Persistent);
            text.Append("held");
            text.Dispose();
            text.Dispose();
            try
            {
                use(ref text);
            }
            catch (ObjectDisposedException thrown)
            {
                Assert.Contains("after it was disposed", thrown.Message, StringComparison.Ordinal);
                return;
            }
            Assert.Fail("a disposed builder was used");
        }
    }

    private delegate void Use(ref Utf8Builder text);

    [Fact]
    public void a_hole_that_assigns_the_builder_cannot_write_behind_its_memory()
    {
        byte[] all = new byte[64];
        byte[] big = new byte[1000];
        Assert.Throws<InvalidOperationException>(() =>
        {
            var line = new Utf8Builder(all.AsSpan(0, 4));
            line.Append($"{Swap(ref line, big)}{"0123456789ABCDEF"}");
        });
        Assert.Throws<InvalidOperationException>(() =>
        {
            var line = new Utf8Builder(all.AsSpan(0, 4));
            line.Append($"{Swap(ref line, big)}{'x'}");
        });
        Assert.Throws<InvalidOperationException>(() =>
        {
            var line = new Utf8Builder(big);
            line.Append('x', 100);
            line.Append($"{Swap(ref line, all)}{new string('x', 2000)}");
        });
        Assert.All(all, letter => Assert.Equal(0, letter));
    }

    private static string Swap(ref Utf8Builder line, byte[] memory)
    {
        line = new Utf8Builder(memory);
        return "";
    }

    [Fact]
    public void a_value_that_asks_for_more_room_than_it_needs_is_written()
    {
        var text = new Utf8Builder(new byte[8]);
        text.Append(new Wide(16));
        text.Append(new Wide(16));
        Assert.Equal("abcdabcd", text.ToString());
        Assert.True(text.Fits);
    }

    [Fact]
    public void a_value_that_never_fits_leaves_the_capacity_as_it_was()
    {
        using var text = new Utf8Builder(Lifetime.Persistent, 16);
        text.Append("kept"u8);
        bool threw = false;
        try
        {
            text.Append(new Wide(int.MaxValue)); // the text before it leaves less
        }
        catch (OutOfMemoryException)
        {
            threw = true;
        }
        Assert.True(threw);
        Assert.Equal(16, text.Capacity);
        Assert.Equal("kept", text.ToString());
    }

    /// <summary>Writes four bytes, but wants more room.</summary>
    private readonly struct Wide(int room) : IUtf8SpanFormattable
    {
        public bool TryFormat(Span<byte> utf8Destination, out int bytesWritten, ReadOnlySpan<char> format, IFormatProvider? provider)
        {
            bytesWritten = 0;
            if (utf8Destination.Length < room)
            {
                return false;
            }
            "abcd"u8.CopyTo(utf8Destination);
            bytesWritten = 4;
            return true;
        }
    }

    /// <summary>Tells that it wrote more than there was room for.</summary>
    private readonly struct Liar : IUtf8SpanFormattable
    {
        public bool TryFormat(Span<byte> utf8Destination, out int bytesWritten, ReadOnlySpan<char> format, IFormatProvider? provider)
        {
            bytesWritten = utf8Destination.Length + 1;
            return true;
        }
    }
}
