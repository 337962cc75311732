// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Runtime.CompilerServices;

[assembly: DisableRuntimeMarshalling]
[module: SkipLocalsInit]
