// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using Xunit;

namespace Tenure.Tests;

/// <summary>Random operations against a slow honest model.</summary>
public sealed class HandleModelTests
{
    private sealed class Model
    {
        public bool IsLive = true;
        public int Holders;
        public int Length;
        public int Last;
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void buffers_and_their_copies_do_what_the_model_does(int seed)
    {
        var random = new Random(seed);
        var buffers = new List<(FixedBuffer<int> Buffer, Model Model)>();
        for (int step = 0; step < 20_000; step++)
        {
            if (buffers.Count == 0 || random.Next(8) == 0)
            {
                int length = random.Next(1, 50);
                buffers.Add((new FixedBuffer<int>(length), new Model { Length = length }));
                continue;
            }
            (FixedBuffer<int> buffer, Model model) = buffers[random.Next(buffers.Count)];
            Type? wanted = model.IsLive ? null : typeof(ObjectDisposedException);
            Type? found = null;
            string what = "";
            try
            {
                switch (random.Next(8))
                {
                    case 0:
                        what = "copy";
                        buffers.Add((buffer, model));
                        wanted = null;
                        break;
                    case 1:
                        what = "acquire";
                        model.Holders += model.IsLive ? 1 : 0;
                        buffer.Acquire();
                        break;
                    case 2:
                        what = "release";
                        wanted ??= model.Holders == 0 ? typeof(InvalidOperationException) : null;
                        model.Holders -= wanted is null ? 1 : 0;
                        buffer.Release();
                        break;
                    case 3:
                        what = "free";
                        wanted ??= model.Holders != 0 ? typeof(InvalidOperationException) : null;
                        model.IsLive &= wanted is not null;
                        buffer.Free();
                        break;
                    case 4:
                        what = "write";
                        buffer[model.Length - 1] = step;
                        model.Last = step;
                        break;
                    case 5:
                        what = "index";
                        wanted ??= typeof(IndexOutOfRangeException);
                        _ = buffer[model.Length];
                        break;
                    case 6:
                        what = "lease";
                        using (Lease<int> lease = buffer.Lease())
                        {
                            Assert.Equal(model.Last, lease[model.Length - 1]);
                        }
                        break;
                    default:
                        what = "read";
                        Assert.Equal(model.Last, buffer[^1]);
                        break;
                }
            }
            catch (Exception exception) when (exception is InvalidOperationException or IndexOutOfRangeException)
            {
                found = exception.GetType();
            }
            Assert.True(wanted == found, $"Seed {seed}, step {step}, {what}: {found} instead of {wanted}.");
            Assert.Equal(model.IsLive, buffer.IsValid);
            Assert.Equal(model.IsLive ? model.Holders : 0, HandleTable.Holders(buffer.Handle));
            if (buffers.Count > 200)
            {
                buffers.RemoveAll(each => !each.Model.IsLive);
            }
        }
        foreach ((FixedBuffer<int> buffer, Model model) in buffers)
        {
            for (; model.IsLive && model.Holders > 0; model.Holders--)
            {
                buffer.Release();
            }
            buffer.Dispose();
        }
    }
}
