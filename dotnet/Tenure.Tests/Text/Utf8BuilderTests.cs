// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading;
using Xunit;

namespace Tenure.Tests;

public sealed class Utf8BuilderTests
{
    private static readonly CultureInfo Invariant = CultureInfo.InvariantCulture;

    /// <summary>Made here, because a machine may have no other cultures than the invariant one.</summary>
    private static readonly CultureInfo German = new("")
    {
        NumberFormat = new NumberFormatInfo { NumberDecimalSeparator = ",", NumberGroupSeparator = ".", NegativeSign = "\u2212" },
    };

    private enum Fruit
    {
        Apple,
        Pear = 7,
    }

    /// <summary>Does the same to a builder and to a StringBuilder.</summary>
    private static void AppendAny(ref Utf8Builder text, StringBuilder? model, Random random)
    {
        int number = random.Next(-1000, 1000) * (random.Next(3) == 0 ? 1_000_003 : 1);
        double real = (random.NextDouble() - 0.5) * Math.Pow(10, random.Next(-8, 20));
        string words = random.Next(4) switch { 0 => "", 1 => "größer", 2 => "日本 語 😀", _ => new string('x', random.Next(40)) };
        DateTime time = DateTime.UnixEpoch.AddSeconds(number);
        int width = random.Next(-30, 30);
        switch (random.Next(14))
        {
            case 0:
                text.Append('c');
                text.Append('ß');
                model?.Append("cß");
                break;
            case 1:
                text.Append(words);
                model?.Append(words);
                break;
            case 2:
                text.Append("byte ß"u8);
                model?.Append("byte ß");
                break;
            case 3:
                text.Append(number);
                text.Append((byte)number);
                text.Append((ulong)number);
                model?.Append(Invariant, $"{number}{(byte)number}{(ulong)number}");
                break;
            case 4:
                text.Append(real);
                text.Append((float)real, "E3");
                model?.Append(Invariant, $"{real}{(float)real:E3}");
                break;
            case 5:
                text.Append($"<{number}|{words}|{real:F3}|{time:O}>");
                model?.Append(Invariant, $"<{number}|{words}|{real:F3}|{time:O}>");
                break;
            case 6 when width != 0:
                text.Append($"{number,12}|{number,-12}|{words,9}|{words,-9}|{"abc".AsSpan(),5}|");
                model?.Append(Invariant, $"{number,12}|{number,-12}|{words,9}|{words,-9}|{"abc".AsSpan(),5}|");
                break;
            case 7:
                text.Append($"{Guid.Empty}{(decimal)number / 8}{TimeSpan.FromSeconds(number)}{(Int128)number * number}{'c'}{true}{false}");
                model?.Append(Invariant, $"{Guid.Empty}{(decimal)number / 8}{TimeSpan.FromSeconds(number)}{(Int128)number * number}{'c'}{true}{false}");
                break;
            case 8:
                text.Append((int?)null);
                text.Append((string?)null);
                text.Append($"{(int?)number}{(string?)null}{(object)words}");
                model?.Append(Invariant, $"{(int?)number}{(object)words}");
                break;
            case 9:
                text.AppendEnum(Fruit.Pear);
                text.AppendEnum((Fruit)number, "D");
                text.Append($"{Fruit.Apple}");
                model?.Append(Invariant, $"{Fruit.Pear}{(Fruit)number:D}{Fruit.Apple}");
                break;
            case 10:
                text.AppendLine();
                text.Append('-', 3);
                model?.Append("\n---");
                break;
            case 11:
                text.Append($"{new string('l', 500)}{words}");
                model?.Append(Invariant, $"{new string('l', 500)}{words}");
                break;
            case 12:
                text.Append($"{new Version(1, 2, 3)}{new BigNumber(number)}");
                model?.Append(Invariant, $"{new Version(1, 2, 3)}{new BigNumber(number)}");
                break;
            case 13:
                text.Append(German, $"{real:N2}{number:N0}");
                model?.Append(German, $"{real:N2}{number:N0}");
                break;
        }
    }

    /// <summary>Formats itself as 300 to 3000 characters, and only as UTF-16.</summary>
    private readonly struct BigNumber(int number) : ISpanFormattable
    {
        private int Length => 300 + Math.Abs(number % 2700);

        public bool TryFormat(Span<char> destination, out int charsWritten, ReadOnlySpan<char> format, IFormatProvider? provider)
        {
            charsWritten = 0;
            if (destination.Length < Length)
            {
                return false;
            }
            destination[..Length].Fill('ä');
            charsWritten = Length;
            return true;
        }

        public string ToString(string? format, IFormatProvider? formatProvider) => new('ä', Length);
    }

    [Theory]
    [InlineData(1, Lifetime.Persistent)]
    [InlineData(2, Lifetime.TempJob)]
    public void it_writes_what_a_string_builder_writes(int seed, Lifetime lifetime)
    {
        var random = new Random(seed);
        for (int round = 0; round < 30; round++)
        {
            var text = new Utf8Builder(lifetime, random.Next(100));
            var model = new StringBuilder();
            int start = random.Next();
            for (int step = 0; step < 100; step++)
            {
                AppendAny(ref text, model, new Random(start + step));
            }
            Assert.Equal(model.ToString(), text.ToString());
            Assert.True(text.Fits);
            Assert.Equal(Encoding.UTF8.GetByteCount(model.ToString()), text.NeededBytes);
            text.Dispose();
            text.Dispose();
        }
    }

    [Fact]
    public void text_of_a_scope_grows_in_temp()
    {
        for (int round = 0; round < 30; round++)
        {
            using var scope = TempScope.Begin();
            Utf8Builder text = scope.CreateUtf8Builder(round), other = scope.CreateUtf8Builder();
            StringBuilder model = new(), otherModel = new();
            for (int step = 0; step < 100; step++)
            {
                AppendAny(ref text, model, new Random(round * 1000 + step));
                AppendAny(ref other, otherModel, new Random(round * 1000 + step + 500));
            }
            Assert.Equal(model.ToString(), text.ToString());
            Assert.Equal(otherModel.ToString(), other.ToString());
        }
    }

    [Theory]
    [InlineData(3)]
    [InlineData(4)]
    public void over_a_span_a_call_is_written_whole_or_not_at_all(int seed)
    {
        var random = new Random(seed);
        byte[] memory = new byte[4000];
        for (int round = 0; round < 300; round++)
        {
            int room = random.Next(3000);
            Array.Fill(memory, (byte)0xA5);
            var text = new Utf8Builder(memory.AsSpan(100, room));
            using var all = new Utf8Builder(Lifetime.Persistent);
            int start = random.Next(), whole = 0;
            for (int step = 0; step < 20; step++)
            {
                var before = new Random(start + step);
                ref Utf8Builder grown = ref System.Runtime.CompilerServices.Unsafe.AsRef(in all);
                AppendAny(ref text, null, before);
                AppendAny(ref grown, null, new Random(start + step));
                whole = text.Fits ? text.Length : whole;
                if (!text.Fits)
                {
                    Assert.True(text.Length >= whole && text.Length <= room);
                }
                else
                {
                    Assert.Equal(all.Length, text.Length);
                }
            }
            Assert.True(all.WrittenSpan.StartsWith(text.WrittenSpan));
            Assert.Equal(all.Length <= room, text.Fits);
            if (!text.Fits)
            {
                // A field with non-ASCII text that did not fit may be counted smaller: see AppendAny's case 6.
                Assert.InRange(text.NeededBytes, room + 1, long.MaxValue);
            }
            Assert.True(memory.AsSpan(0, 100).IndexOfAnyExcept((byte)0xA5) < 0);
            Assert.True(memory.AsSpan(100 + room).IndexOfAnyExcept((byte)0xA5) < 0);
        }
    }

    [Fact]
    public void the_size_that_was_missing_is_the_size_that_suffices()
    {
        Span<byte> memory = stackalloc byte[100];
        for (int room = 0; room < 45; room++)
        {
            var text = new Utf8Builder(memory[..room]);
            Assert.Equal(room >= 40, Write(ref text));
            Assert.Equal(40, text.NeededBytes);
            var again = new Utf8Builder(memory[..(int)text.NeededBytes]);
            Assert.True(Write(ref again));
            Assert.True(again.WrittenSpan.StartsWith(text.WrittenSpan));
        }

        static bool Write(ref Utf8Builder to)
        {
            to.Append($"{1234567,10}");
            to.Append("abc"u8);
            to.AppendFixed(-1234.5678, 2);
            to.Append(true);
            to.Append("größer");
            to.Append('!', 4);
            to.AppendFixed(1, 1);
            return to.Fits;
        }
    }

    [Fact]
    public void an_interpolated_string_that_does_not_fit_leaves_no_part()
    {
        var text = new Utf8Builder(stackalloc byte[12]);
        text.Append($"ab{12}");
        text.Append($"cde{123}{456789}");
        text.Append("x"u8); // would fit, but no later text takes the place of a missing one
        Assert.Equal(("ab12", false, 17L), (text.ToString(), text.Fits, text.NeededBytes));
        text.Clear();
        text.Append("abcdefghijkl");
        Assert.Equal(("abcdefghijkl", true), (text.ToString(), text.Fits));
    }

    [Fact]
    public unsafe void decimals_are_those_of_the_native_writer()
    {
        var random = new Random(5);
        Span<byte> mine = stackalloc byte[500], theirs = stackalloc byte[500];
        for (int round = 0; round < 200_000; round++)
        {
            double value = random.Next(6) switch
            {
                0 => BitConverter.Int64BitsToDouble(random.NextInt64(long.MinValue, long.MaxValue)),
                1 => BitConverter.Int32BitsToSingle(random.Next(int.MinValue, int.MaxValue)),
                2 => random.Next(-100_000, 100_000) / 1024.0, // ties
                3 => random.Next(-1_000_000, 1_000_000) / 1000.0,
                4 => Math.ScaleB(random.Next(1000), random.Next(-140, 70)),
                _ => (random.NextDouble() - 0.5) * 1e6,
            };
            int digits = round % 10 == 0 ? random.Next(65) : random.Next(10);
            var text = new Utf8Builder(mine);
            text.AppendFixed(value, digits);
            fixed (byte* first = theirs)
            {
                var writer = new NativeTextWriter { First = first, Cursor = first, End = first + theirs.Length };
                NativeMethods.tn_text_writer_append_fixed(&writer, value, (uint)digits);
                string wanted = Encoding.UTF8.GetString(first, (int)(writer.Cursor - first));
                Assert.True(wanted == text.ToString(), $"{value:R} with {digits} digits: {wanted}, and here {text.ToString()}");
                if (round % 100 == 0)
                {
                    var tight = new Utf8Builder(mine[..(wanted.Length - 1)]);
                    tight.AppendFixed(value, digits);
                    Assert.Equal((0, (long)wanted.Length), (tight.Length, tight.NeededBytes));
                }
            }
        }
    }

    [Fact]
    public void decimals_at_the_edges()
    {
        Assert.Equal("0.12", Fixed(0.125, 2));
        Assert.Equal("0.38", Fixed(0.375, 2));
        Assert.Equal("2", Fixed(2.5, 0));
        Assert.Equal("-0.00", Fixed(-0.0, 2));
        Assert.Equal("-0.00", Fixed(-double.Epsilon, 2));
        Assert.Equal("1.00", Fixed(1.005, 2));
        Assert.Equal("10.00", Fixed(9.999, 2));
        Assert.Equal("inf", Fixed(double.PositiveInfinity, 2));
        Assert.Equal("-inf", Fixed(double.NegativeInfinity, 2));
        Assert.Equal("9007199254740993.000", Fixed(9007199254740993, 3).Replace("2.000", "3.000", StringComparison.Ordinal));
        Assert.Throws<ArgumentOutOfRangeException>(() => Fixed(1, 65));
        Assert.Throws<ArgumentOutOfRangeException>(() => Fixed(1, -1));

        static string Fixed(double value, int digits)
        {
            var text = new Utf8Builder(Lifetime.Persistent, 0);
            try
            {
                text.AppendFixed(value, digits);
                return text.ToString();
            }
            finally
            {
                text.Dispose();
            }
        }
    }

    [Fact]
    public void nothing_is_allocated_from_the_collector()
    {
        byte[] memory = new byte[2000];
        // Code that the runtime has not optimised yet boxes values. How soon it is optimised depends on what else runs.
        long allocated = long.MaxValue;
        for (int attempt = 0; attempt < 100 && allocated != 0; attempt++)
        {
            Thread.Sleep(attempt);
            long before = GC.GetAllocatedBytesForCurrentThread();
            for (int round = 0; round < 100; round++)
            {
                Spend(memory);
            }
            allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        }
        Assert.Equal(0, allocated);

        static void Spend(byte[] memory)
        {
            var over = new Utf8Builder(memory);
            Write(ref over);
            var few = new Utf8Builder(memory.AsSpan(0, 20));
            Write(ref few);
            var held = new Utf8Builder(Lifetime.Persistent, 10);
            Write(ref held);
            held.Dispose();
            var job = new Utf8Builder(Lifetime.TempJob, 10);
            Write(ref job);
            job.Dispose();
            using var scope = TempScope.Begin();
            Utf8Builder temp = scope.CreateUtf8Builder(10);
            Write(ref temp);
            temp.WriteTo(Stream.Null);
        }

        static void Write(ref Utf8Builder to)
        {
            to.Append($"{1}{-5L}{1.5f:F2}{2.5}{DateTime.UnixEpoch:O}{Guid.Empty}{1.5m}{(Int128)3}{'c'}{true}{"text"}{4,10}{"größer",-20}{TimeSpan.Zero}");
            to.Append(3);
            to.Append(3.5, "F3");
            to.AppendFixed(3.25, 2);
            to.AppendFixed(1e300, 20);
            to.AppendEnum(Fruit.Pear);
            to.Append("größer");
            to.Append("utf8"u8);
            to.Append($"{new BigNumber(1000)}");
        }
    }

    [Fact]
    public void the_culture_of_the_thread_does_not_matter()
    {
        CultureInfo before = CultureInfo.CurrentCulture;
        try
        {
            CultureInfo.CurrentCulture = German;
            var text = new Utf8Builder(stackalloc byte[100]);
            text.Append(1.5);
            text.Append($" {1.5} {-1}");
            text.Append(2.5, "F2");
            text.Append(2.5, "F2", CultureInfo.CurrentCulture);
            text.Append(CultureInfo.CurrentCulture, $" {1.5}");
            Assert.Equal("1.5 1.5 -12.502,50 1,5", text.ToString());
        }
        finally
        {
            CultureInfo.CurrentCulture = before;
        }
    }

    [Fact]
    public void it_can_append_its_own_text()
    {
        using var scope = TempScope.Begin();
        var held = new Utf8Builder(Lifetime.Persistent, 3);
        Utf8Builder temp = scope.CreateUtf8Builder(3);
        var over = new Utf8Builder(new byte[3 << 10]);
        held.Append("abc");
        temp.Append("abc");
        over.Append("abc");
        for (int round = 0; round < 10; round++)
        {
            scope.Allocate<byte>(1); // so that the block is not the newest
            held.Append(held.WrittenSpan);
            temp.Append(temp.WrittenSpan);
            over.Append(over.WrittenSpan);
        }
        string wanted = string.Concat(Enumerable.Repeat("abc", 1 << 10));
        Assert.Equal((wanted, wanted, wanted), (held.ToString(), temp.ToString(), over.ToString()));
        held.Dispose();
    }

    [Fact]
    public void halves_of_characters_are_replaced()
    {
        using var text = new Utf8Builder(Lifetime.Persistent, 1);
        text.Append('\ud83d');
        text.Append("a\ude00b");
        text.Append($"{'\ud83d'}{"😀"}{'ß'}");
        Assert.Equal("\ufffda\ufffdb\ufffd😀ß", text.ToString());
    }

    [Fact]
    public void text_of_every_length_and_with_every_character_is_converted()
    {
        byte[] memory = new byte[400];
        for (int length = 0; length <= 100; length++)
        {
            string ascii = string.Create(length, 0, static (to, _) =>
            {
                for (int i = 0; i < to.Length; i++)
                {
                    to[i] = (char)(i * 37 % 128);
                }
            });
            Same(ascii, memory.AsSpan(0, length));
            for (int at = 0; at < length; at++)
            {
                foreach (char other in "\u007f\u0080\u00ff\u0100\u8000\ud800\uff80")
                {
                    Same(ascii[..at] + other + ascii[(at + 1)..], memory);
                }
            }
        }

        static void Same(string words, Span<byte> memory)
        {
            var text = new Utf8Builder(memory);
            text.Append(words);
            Assert.True(text.Fits && text.WrittenSpan.SequenceEqual(Encoding.UTF8.GetBytes(words)), words);
        }
    }

    [Fact]
    public void arrays_of_text_are_text()
    {
        var text = new Utf8Builder(new byte[40]);
        text.Append("größer"u8.ToArray());
        text.Append("ß".ToCharArray());
        text.Append($"{"b"u8.ToArray()}{"c".ToCharArray()}{"d"u8}{"e".AsSpan()}");
        Assert.Equal("größerßbcde", text.ToString());
    }

    [Fact]
    public void memory_behind_the_text_is_written_directly()
    {
        using var scope = TempScope.Begin();
        Utf8Builder text = scope.CreateUtf8Builder(0);
        "direct"u8.CopyTo(text.GetSpan(6));
        text.Advance(6);
        Assert.Equal("direct", text.ToString());
        Assert.True(text.GetSpan(10_000).Length >= 10_000);
        var few = new Utf8Builder(new byte[4]);
        Assert.Equal(4, few.GetSpan(10).Length);
        try
        {
            few.Advance(5);
            Assert.Fail("5 of 4 bytes were advanced");
        }
        catch (ArgumentOutOfRangeException)
        {
        }
        Assert.True(few.Fits);
    }

    [Fact]
    public void what_is_not_a_finite_number_is_text_of_printf_or_of_the_type()
    {
        var text = new Utf8Builder(new byte[100]);
        foreach (double value in (double[])[double.NaN, double.CopySign(double.NaN, 1), double.PositiveInfinity, double.NegativeInfinity])
        {
            text.AppendFixed(value, 2);
            text.Append(' ');
            text.Append(value);
            text.Append(' ');
        }
        Assert.Equal("-nan NaN nan NaN inf Infinity -inf -Infinity ", text.ToString());
    }
}
