// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using BenchmarkDotNet.Engines;
using BenchmarkDotNet.Jobs;
using Perfolizer.Horology;

namespace Tenure.Bench;

/// <summary>How often, and what runs before.</summary>
internal static class JobPlan
{
    /// <summary>Iterations of a cold start of which each takes milliseconds, and of one that takes seconds.</summary>
    private const int ColdIterations = 7;
    private const int LongIterations = 3;

    internal static Job Of(BenchRequest request)
    {
        bool isLong = request.Verb == Verb.Huge || request.Operations.HasFlag(Operations.Fragment);
        if (request.IsOnce || request.IsColdStart || isLong)
        {
            int iterations = request.IsOnce ? 1 : request.Iterations ?? (isLong ? LongIterations : ColdIterations);
            return Job.Default.WithId("cold start").WithStrategy(RunStrategy.ColdStart)
                .WithLaunchCount(1).WithWarmupCount(0).WithInvocationCount(1).WithUnrollFactor(1).WithIterationCount(iterations);
        }
        Job warm = Job.Default.WithId("throughput").WithStrategy(RunStrategy.Throughput).WithLaunchCount(1)
            .WithUnrollFactor(1).WithIterationTime(TimeInterval.FromMilliseconds(200)).WithMinWarmupCount(2).WithMaxWarmupCount(6);
        return request.Iterations is { } given
            ? warm.WithIterationCount(given)
            : warm.WithMinIterationCount(7).WithMaxIterationCount(20);
    }

    internal static string Describe(BenchRequest request)
    {
        Job job = Of(request);
        return job.Run.RunStrategy == RunStrategy.ColdStart
            ? $"cold start: {job.Run.IterationCount} iterations, nothing runs before the first"
            : "throughput: warmed up, iterations of at least 200 ms";
    }
}
