// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure;

// tenure_text.h: one text.
internal static unsafe partial class NativeMethods
{
    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial void tn_text_writer_append_fixed(NativeTextWriter* writer, double value, uint precision);
}
