// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>The functions of <c>tenure.h</c>, under the names that they have there.</summary>
/// <remarks>
/// Blittable signatures only. Whoever calls one has had <see cref="NativeLibraryCheck.Ensure"/> called before the
/// calling method was compiled: a call without a transition is bound when its caller is compiled, not when it is made.
/// </remarks>
internal static unsafe partial class NativeMethods
{
    /// <summary>Without prefix and extension: the runtime adds what the platform has.</summary>
    internal const string Library = "tenure";

    /// <summary>The version of the C ABI that this assembly was written for.</summary>
    internal const uint AbiVersion = 1;

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial uint tn_abi_version();
}
