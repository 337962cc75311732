// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.IO;
using Xunit;

namespace Tenure.Tests;

/// <summary>The process has one profile at a time.</summary>
[CollectionDefinition(nameof(HeapProfileTests), DisableParallelization = true)]
[Collection(nameof(HeapProfileTests))]
public sealed unsafe class HeapProfileTests
{
    [Fact]
    public void a_profile_is_started_saved_and_stopped()
    {
        Assert.Throws<InvalidOperationException>(HeapProfile.Stop);
        Assert.Throws<ArgumentOutOfRangeException>(() => HeapProfile.Start(ulong.MaxValue));
        string path = Path.Combine(Path.GetTempPath(), $"tenure-{Guid.NewGuid():N}.heapprofile");
        HeapProfile.Start(1);
        try
        {
            Assert.True(HeapProfile.IsRunning);
            Assert.Throws<InvalidOperationException>(() => HeapProfile.Start());
            void* block = Native.Allocate(123_457, Lifetime.Persistent);
            HeapProfile.Save(path);
            long plainBytes = new FileInfo(path).Length;
            HeapProfile.Save(path, ProfileContents.StacksAndPages);
            Assert.True(new FileInfo(path).Length > plainBytes);
            Native.Deallocate(block, Lifetime.Persistent);
            byte[] saved = File.ReadAllBytes(path);
            Assert.True(saved.AsSpan().StartsWith("TNHEAPPR"u8));
            Assert.True(saved.AsSpan().IndexOf(BitConverter.GetBytes((ulong)block)) > 0);
            Assert.Throws<ArgumentException>(() => HeapProfile.Save(""));
            Assert.Throws<IOException>(() => HeapProfile.Save("/no such folder/x"));
        }
        finally
        {
            HeapProfile.Stop();
            File.Delete(path);
        }
        Assert.False(HeapProfile.IsRunning);
    }
}
