// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.InteropServices;
using System.Threading;

// NativeMemory is the C library's malloc, so that a managed program allocates from the drop-in as well.
var count = 0;
var threads = new Thread[4];
for (var i = 0; i < threads.Length; i++)
{
    threads[i] = new Thread(() =>
    {
        unsafe
        {
            var blocks = new nint[500];
            for (var n = 0; n < 50_000; n++)
            {
                ref var block = ref blocks[n % blocks.Length];
                NativeMemory.Free((void*)block);
                block = (nint)NativeMemory.Alloc((nuint)(n % 3000 + 1));
                *(byte*)block = 1;
            }
            foreach (var block in blocks) NativeMemory.Free((void*)block);
        }
        Interlocked.Add(ref count, 50_000);
    });
    threads[i].Start();
}
foreach (var thread in threads) thread.Join();
Console.WriteLine($"{threads.Length} threads, {count} native blocks");
