// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Text;
using Xunit;

namespace Tenure.Tests;

public sealed class FixedUtf8StringTests
{
    private static readonly string[] s_texts =
        ["", "a", "b", "ab", "abc", "äöü", "日本語", "a日b", "😀", "😀a", "z", "\uFFFD", "\uE000", "\0", "a\0b", "İ", "ı", "ß", "ss"];

    [Fact]
    public void a_text_comes_back_as_it_was()
    {
        foreach (string each in s_texts)
        {
            using var text = new FixedUtf8String(each);
            using var ofBytes = new FixedUtf8String(Encoding.UTF8.GetBytes(each));
            Assert.Equal(each, text.ToString());
            Assert.Equal(each, (string)ofBytes);
            Assert.Equal(Encoding.UTF8.GetByteCount(each), text.Length);
            Assert.Equal(each.Length == 0, text.IsEmpty);
            Assert.True(text == ofBytes && text == each && text.Equals((object)each));
            Assert.Equal(text.GetHashCode(), ofBytes.GetHashCode());
            ReadOnlySpan<byte> bytes = text;
            Assert.Equal(Encoding.UTF8.GetBytes(each), bytes.ToArray());
        }
    }

    [Fact]
    public void text_that_is_not_well_formed_is_refused_and_leaks_nothing()
    {
        using var leaks = new LeakScope();
        Assert.Throws<ArgumentException>(() => new FixedUtf8String("a\uD800b"));
        Assert.Throws<ArgumentException>(() => new FixedUtf8String("\uDC00"));
        Assert.Throws<ArgumentException>(() => new FixedUtf8String((byte[])[0xC0, 0x80]));
        Assert.Throws<ArgumentException>(() => new FixedUtf8String((byte[])[0xED, 0xA0, 0x80]));
        Assert.Throws<ArgumentException>(() => new FixedUtf8String((byte[])[0x61, 0xE6]));
        Assert.Throws<ArgumentNullException>(() => new FixedUtf8String((string)null!));
    }

    [Fact]
    public void searching_is_ordinal_and_counts_in_bytes()
    {
        using var text = new FixedUtf8String("añb日añ");
        using var ñ = new FixedUtf8String("ñ");
        Assert.Equal(1, text.IndexOf("ñ"));
        Assert.Equal(8, text.LastIndexOf("ñ"));
        Assert.Equal(1, text.IndexOf(ñ));
        Assert.Equal(8, text.LastIndexOf(ñ));
        Assert.Equal(4, text.IndexOf(new Rune('日')));
        Assert.Equal(7, text.LastIndexOf(new Rune('a')));
        Assert.Equal(-1, text.IndexOf("n"));
        Assert.Equal(-1, text.LastIndexOf("n\u0303"));
        Assert.Equal(0, text.IndexOf(""));
        Assert.Equal(10, text.LastIndexOf(""));
        Assert.True(text.StartsWith("añ") && text.StartsWith(""u8) && text.StartsWith(text));
        Assert.True(text.EndsWith("añ") && text.EndsWith(ñ) && !text.EndsWith("n"));
        Assert.True(text.Contains("b日"));
        Assert.Equal(-1, text.IndexOf("\uD83D"));
        Assert.False(text.StartsWith("\uD83D") || text.EndsWith("\uD83D") || text == "\uD83D");
        Assert.Throws<ArgumentNullException>(() => text.IndexOf((string)null!));
        string l = new('x', 1000);
        using var longText = new FixedUtf8String("y" + l);
        Assert.Equal(1, longText.IndexOf(l));
        Assert.True(longText == "y" + l && longText != l);
    }

    [Fact]
    public void what_is_not_well_formed_is_found_nowhere_not_even_where_its_replacement_stands()
    {
        using var text = new FixedUtf8String("\uFFFD");
        Assert.Equal(-1, text.IndexOf("\uD800"));
        Assert.False(text == "\uD800");
        Assert.NotEqual(0, text.CompareTo("\uD800"));
    }

    [Fact]
    public void the_order_is_that_of_code_points()
    {
        var texts = s_texts.Select(each => new FixedUtf8String(each)).ToArray();
        foreach (FixedUtf8String left in texts)
        {
            foreach (FixedUtf8String right in texts)
            {
                int expected = Math.Sign(OfCodePoints(left.ToString(), right.ToString()));
                Assert.Equal(expected, Math.Sign(left.CompareTo(right)));
                Assert.Equal(expected, Math.Sign(left.CompareTo(right.ToString())));
                Assert.Equal(expected < 0, left < right);
                Assert.Equal(expected >= 0, left >= right);
                Assert.Equal(expected == 0, left == right);
            }
            Assert.True(left.CompareTo(null) > 0);
        }
        // UTF-16 would have it the other way round.
        Assert.True(Array.IndexOf(s_texts, "😀") is int grin && Array.IndexOf(s_texts, "\uFFFD") is int mark && texts[grin] > texts[mark]);
        foreach (FixedUtf8String each in texts)
        {
            each.Dispose();
        }

        static int OfCodePoints(string left, string right)
        {
            int[] x = [.. left.EnumerateRunes().Select(each => each.Value)], y = [.. right.EnumerateRunes().Select(each => each.Value)];
            return x.AsSpan().SequenceCompareTo(y);
        }
    }

    [Fact]
    public void a_substring_is_a_view_that_goes_stale_with_its_text()
    {
        var text = new FixedUtf8String("hello, world");
        FixedUtf8String part = text.Substring(7, 3), again = part.Substring(1);
        Assert.Equal("wor", part.ToString());
        Assert.Equal("or", again.ToString());
        Assert.Equal((byte)'r', again[1]);
        Assert.True(part.IsView && !text.IsView && !text.Substring(0).IsView);
        Assert.Throws<InvalidOperationException>(() => part.Free());
        part.Dispose();
        Assert.True(text.IsValid);
        part.Acquire();
        Assert.Throws<InvalidOperationException>(() => text.Free());
        part.Release();
        text.Free();
        Assert.Throws<ObjectDisposedException>(() => again.ToString());
        Assert.Throws<ObjectDisposedException>(() => part.Free());
        Assert.True(again.IsInvalid);
    }

    [Fact]
    public void a_substring_begins_and_ends_between_code_points()
    {
        using var text = new FixedUtf8String("a日b");
        Assert.Equal("日", text.Substring(1, 3).ToString());
        Assert.Throws<ArgumentException>(() => text.Substring(2));
        Assert.Throws<ArgumentException>(() => text.Substring(1, 2));
        Assert.Throws<ArgumentOutOfRangeException>(() => text.Substring(6));
        Assert.Throws<ArgumentOutOfRangeException>(() => text.Substring(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => text.Substring(1, 5));
        Assert.Throws<ArgumentOutOfRangeException>(() => text.Substring(1, -1));
        Assert.True(text.Substring(5).IsEmpty);
        Assert.True(text.TrySubstringFrom("日", out FixedUtf8String from) && from == "日b");
        Assert.True(text.TrySubstringTo("日", out FixedUtf8String to) && to == "a");
        Assert.False(text.TrySubstringFrom("c", out from) || !from.IsEmpty);
    }

    [Fact]
    public void a_loop_gives_code_points()
    {
        foreach (string each in s_texts)
        {
            using var text = new FixedUtf8String(each);
            var runes = new List<Rune>();
            foreach (Rune rune in text)
            {
                runes.Add(rune);
            }
            Assert.Equal(each.EnumerateRunes().ToArray(), runes);
        }
    }

    [Fact]
    public void a_freed_text_throws_from_every_member_that_reads_it()
    {
        var text = new FixedUtf8String("abc");
        FixedUtf8String copy = text;
        copy.Free();
        Action[] uses =
        [
            () => text.ToString(), () => _ = text.Bytes, () => _ = text[0], () => text.IndexOf("a"), () => text.LastIndexOf("a"u8),
            () => text.StartsWith("a"), () => text.EndsWith("a"), () => text.Substring(0), () => text.Substring(0, 1),
            () => _ = text == "abc", () => text.Equals(FixedUtf8String.Empty), () => FixedUtf8String.Empty.Equals(text),
            () => text.GetHashCode(), () => text.CompareTo("abc"), () => text.Acquire(), () => text.Release(), () => text.Free(),
            () => _ = text.RefCount, () => text.ThrowIfInvalid(), () => text.TryFormat(new char[9], out _), () => text.GetEnumerator(),
            () => _ = (string)text, () => text.GetPinnableReference(),
        ];
        foreach (Action use in uses)
        {
            Assert.Throws<ObjectDisposedException>(use);
        }
        text.Dispose();
        Assert.Equal(3, text.Length);
    }

    [Fact]
    public void a_text_is_formatted_into_spans_and_interpolations()
    {
        using var text = new FixedUtf8String("日x");
        Assert.Equal("[日x]", $"[{text}]");
        char[] chars = new char[2];
        Assert.True(text.TryFormat(chars, out int count));
        Assert.Equal("日x", new string(chars, 0, count));
        Assert.False(text.TryFormat(chars.AsSpan(1), out count));
        Assert.Equal(0, count);
        byte[] bytes = new byte[4];
        Assert.True(text.TryFormat(bytes, out count));
        Assert.Equal(4, count);
        Assert.False(text.TryFormat(bytes.AsSpan(1), out count));
        Assert.Equal(0, count);
    }

    [Fact]
    public void the_culture_has_no_part_in_it()
    {
        CultureInfo before = CultureInfo.CurrentCulture;
        try
        {
            // One that would say "2,5", and that would compare otherwise where it was asked.
            var other = (CultureInfo)CultureInfo.InvariantCulture.Clone();
            other.NumberFormat.NumberDecimalSeparator = ",";
            other.NumberFormat.NegativeSign = "minus ";
            CultureInfo.CurrentCulture = other;
            using var text = new FixedUtf8String("İi");
            Assert.Equal(-1, text.IndexOf("ı"));
            Assert.True(text == "İi");
            var live = new LiveHandle(text.Handle, "kind", 1234, "", TimeSpan.FromSeconds(2.5), 1, null);
            Assert.Contains("kind of 1234 bytes", live.ToString(), StringComparison.Ordinal);
            Assert.EndsWith("live for 2.5 s, held 1 time", live.ToString(), StringComparison.Ordinal);
        }
        finally
        {
            CultureInfo.CurrentCulture = before;
        }
    }
}
