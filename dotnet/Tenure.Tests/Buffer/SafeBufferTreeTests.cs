// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using Xunit;

namespace Tenure.Tests;

/// <summary>A structure of one's own over native memory, as source 003 proposes: a search tree of nodes in one
/// array.</summary>
public sealed class SafeBufferTreeTests
{
    private struct Node
    {
        public long Key;
        public int Left;
        public int Right;
    }

    private sealed class SearchTree(int capacity) : SafeBuffer<Node>(capacity)
    {
        public int Count { get; private set; }

        public bool Add(long key)
        {
            int at = 0;
            while (Count != 0)
            {
                ref Node node = ref this[at];
                if (node.Key == key)
                {
                    return false;
                }
                ref int next = ref key < node.Key ? ref node.Left : ref node.Right;
                if (next == 0)
                {
                    next = Count;
                    break;
                }
                at = next;
            }
            this[Count++] = new Node { Key = key };
            return true;
        }

        public IEnumerable<long> Keys()
        {
            var open = new Stack<int>();
            int at = Count == 0 ? -1 : 0;
            while (at >= 0 || open.Count != 0)
            {
                for (; at >= 0; at = Down(this[at].Left))
                {
                    open.Push(at);
                }
                at = open.Pop();
                yield return this[at].Key;
                at = Down(this[at].Right);
            }

            static int Down(int child) => child == 0 ? -1 : child;
        }
    }

    [Fact]
    public void a_tree_in_native_memory_sorts_what_is_added()
    {
        var random = new Random(5);
        var model = new SortedSet<long>();
        using var tree = new SearchTree(1000);
        for (int i = 0; i < 1000; i++)
        {
            long key = random.Next(1500);
            Assert.Equal(model.Add(key), tree.Add(key));
        }
        Assert.Equal(model, tree.Keys());
        Assert.Equal("SearchTree[1000]", tree.ToString());
    }

    [Fact]
    public void a_tree_that_is_full_throws_and_one_that_is_disposed_of_too()
    {
        var tree = new SearchTree(2);
        tree.Add(1);
        tree.Add(2);
        Assert.Throws<IndexOutOfRangeException>(() => tree.Add(3));
        tree.Dispose();
        Assert.Throws<ObjectDisposedException>(() => tree.Add(3));
        Assert.Throws<ObjectDisposedException>(() => new List<long>(tree.Keys()));
    }
}
