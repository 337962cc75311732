// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.CodeAnalysis;

namespace Tenure;

/// <summary>Tells whether each access to a buffer is checked.</summary>
public static class BufferChecks
{
    /// <summary>Gets a value that indicates whether accesses are checked: true unless the AppContext switch
    /// <c>Tenure.Checks</c> is off. The switch is read once. When it is off, indexers check neither whether the memory
    /// is live nor whether the index is in range, so a mistake corrupts memory. All other members still
    /// check.</summary>
    /// <remarks>In a project file: <c>&lt;RuntimeHostConfigurationOption Include="Tenure.Checks" Value="false"
    /// Trim="true" /&gt;</c>. The optimizing JIT compiler, the trimmer and the ahead-of-time compiler then remove the
    /// checks.</remarks>
#if NET9_0_OR_GREATER
    [FeatureSwitchDefinition("Tenure.Checks")]
#endif
    public static bool AreOn { get; } = !AppContext.TryGetSwitch("Tenure.Checks", out bool on) || on;
}
