// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Reflection;

namespace Tenure.Bench;

/// <summary>The versions of the tool, the runtime and the allocators.</summary>
internal static class Versions
{
    internal static string Tool { get; } = Of(typeof(Versions).Assembly);

    internal static string Library { get; } = Of(typeof(Native).Assembly);

    internal static string BenchmarkDotNet { get; } = Of(typeof(global::BenchmarkDotNet.Running.BenchmarkRunner).Assembly);

    internal static string Runtime { get; } = Environment.Version.ToString();

    /// <summary>"on" by the runtime's default, or the value of DOTNET_TieredPGO.</summary>
    internal static string TieredPgo =>
        Environment.GetEnvironmentVariable("DOTNET_TieredPGO") is { Length: > 0 } set && set.TrimStart('0').Length == 0 ? "off" : "on";

    internal static string Line => $"jembench {Tool} (Tenure {Library}, BenchmarkDotNet {BenchmarkDotNet}, .NET {Runtime})";

    private static string Of(Assembly assembly)
    {
        string text = assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion ?? "unknown";
        int commit = text.IndexOf('+', StringComparison.Ordinal);
        return commit < 0 ? text : text[..commit];
    }
}
