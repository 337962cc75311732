// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using BenchmarkDotNet.Engines;
using BenchmarkDotNet.Jobs;
using Perfolizer.Horology;

namespace Tenure.Bench;

/// <summary>The number of iterations and the preparation of a job.</summary>
internal static class JobPlan
{
    /// <summary>The number of iterations of a cold start if each takes milliseconds, and (<see cref="LongIterations"/>)
    /// if each takes seconds.</summary>
    private const int ColdIterations = 7;
    private const int LongIterations = 3;

    internal const string ColdNote =
        "Cold start: no iteration runs before the measured ones, and memory is touched for the first time, except in the tables "
        + "for warm memory. The code was compiled before, but only once: the runtime recompiles and optimizes frequently called code.";

    internal static bool IsCold(BenchRequest request) => request.IsOnce || request.IsColdStart || IsLong(request);

    internal static Job Of(BenchRequest request)
    {
        bool isLong = IsLong(request);
        if (IsCold(request))
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
            ? $"cold start: {CountText.Of(job.Run.IterationCount, "iteration")}, no warm-up"
            : "throughput: warmed up, iterations of at least 200 ms";
    }

    private static bool IsLong(BenchRequest request) =>
        request.Verb == Verb.Huge || request.Operations.HasFlag(Operations.Fragment);
}
