// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>The native library of this assembly. It is loaded at its first use; a program can load it earlier
/// here.</summary>
public static class TenureLibrary
{
    /// <summary>Loads the native library and checks its version. Does nothing if it is already loaded.</summary>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static void Load() => NativeLibraryCheck.Ensure();

    /// <summary>Gets the C ABI version of the native library, which equals the version that this assembly
    /// requires.</summary>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static int AbiVersion
    {
        get
        {
            NativeLibraryCheck.Ensure();
            return (int)NativeMethods.tn_abi_version();
        }
    }
}
