// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.CodeAnalysis;

namespace Tenure;

/// <summary>Whether each access to a buffer is checked.</summary>
public static class BufferChecks
{
    /// <summary>
    /// True unless the AppContext switch <c>Tenure.Checks</c> is off, which is read once. Then indexers look neither
    /// whether the memory is there nor whether the index is inside: a mistake corrupts. Everything else goes on
    /// checking.
    /// </summary>
    /// <remarks>
    /// In a project file: <c>&lt;RuntimeHostConfigurationOption Include="Tenure.Checks" Value="false" Trim="true"
    /// /&gt;</c>. The compiler of hot code, the trimmer and the ahead-of-time compiler then leave the checks out.
    /// </remarks>
#if NET9_0_OR_GREATER
    [FeatureSwitchDefinition("Tenure.Checks")]
#endif
    public static bool AreOn { get; } = !AppContext.TryGetSwitch("Tenure.Checks", out bool on) || on;
}
