// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using Xunit;

namespace Tenure.Tests;

/// <summary>The recipe for Godot in docs/guide/dotnet.md. It ends frames, so it runs alone.</summary>
[Collection(nameof(FrameMemoryTests))]
public sealed class GodotExample
{
    /// <summary>Stands for Godot's class of this name, with the two members that the recipe uses.</summary>
    private class Node
    {
        public virtual void _Process(double delta)
        {
        }

        public virtual void _ExitTree()
        {
        }
    }

    private struct Boid
    {
        public float Position;
        public float Speed;
    }

#pragma warning disable CA1001 // Godot's Node is disposable
    private sealed class Flock : Node
    {
        private readonly HandlePool<Boid> _boids = new(maxCount: 100_000); // unmanaged: the collector never looks at them

        public long Count => _boids.Count;

        public PoolHandle<Boid> Add(float speed) => _boids.Construct(new Boid { Speed = speed });

        public override void _Process(double delta)
        {
            using var scope = TempScope.Begin(); // scratch of this frame: nothing for the collector
            TempList<PoolHandle<Boid>> gone = scope.CreateList<PoolHandle<Boid>>();
            HandlePool<Boid>.Enumerator each = _boids.GetEnumerator();
            while (each.MoveNext())
            {
                ref Boid boid = ref each.Current;
                boid.Position += boid.Speed * (float)delta;
                if (boid.Position > 10)
                {
                    gone.Add(each.Handle);
                }
            }
            foreach (PoolHandle<Boid> boid in gone.AsSpan())
            {
                _boids.Free(boid);
            }
        }

        public override void _ExitTree() => _boids.Dispose(); // native memory ends with the node, not with the collector
    }

    /// <summary>The autoload that is processed last (ProcessPriority): exactly one node ends the frame.</summary>
    private sealed class FrameEnd : Node
    {
        public override void _Process(double delta) => Native.NextFrame();
    }

#pragma warning restore CA1001

    [Fact]
    public void a_node_owns_native_memory()
    {
        var flock = new Flock();
        var end = new FrameEnd();
        flock.Add(speed: 1);
        flock.Add(speed: 100);
        for (int frame = 0; frame < 10; frame++)
        {
            flock._Process(1.0 / 60);
            end._Process(1.0 / 60);
        }
        Assert.Equal(1, flock.Count);
        flock._ExitTree();
        end._ExitTree();
        Assert.Throws<ObjectDisposedException>(() => flock.Count);
    }
}
