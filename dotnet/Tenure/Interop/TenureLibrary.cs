// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>The native library under this assembly. It is loaded by whatever first needs it; here a program may ask
/// earlier.</summary>
public static class TenureLibrary
{
    /// <summary>Loads the native library and sees that it fits. Nothing when that has been done.</summary>
    /// <exception cref="TenureLoadException">It is missing, cannot be loaded, or is another version's.</exception>
    public static void Load() => NativeLibraryCheck.Ensure();

    /// <summary>The version of the C ABI that the native library has, which is the one that this assembly
    /// wants.</summary>
    /// <exception cref="TenureLoadException">It is missing, cannot be loaded, or is another version's.</exception>
    public static int AbiVersion
    {
        get
        {
            NativeLibraryCheck.Ensure();
            return (int)NativeMethods.tn_abi_version();
        }
    }
}
