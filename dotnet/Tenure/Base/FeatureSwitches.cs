// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>The feature switches that a program was published with: MSBuild's EventSourceSupport and
/// MeterSupport.</summary>
internal static class FeatureSwitches
{
    internal static bool EventSourceIsSupported { get; } = IsOn("System.Diagnostics.Tracing.EventSource.IsSupported");

    internal static bool MeterIsSupported { get; } = IsOn("System.Diagnostics.Metrics.Meter.IsSupported");

    private static bool IsOn(string name) => !AppContext.TryGetSwitch(name, out bool isOn) || isOn;
}
