// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure.Bench;

/// <summary>The exit codes of the tool.</summary>
internal static class ExitCode
{
    internal const int Ok = 0;

    /// <summary>A row failed, the request does not fit into this machine, or a file could not be written.</summary>
    internal const int Failed = 1;

    /// <summary>The command line is not valid; nothing was measured.</summary>
    internal const int BadUsage = 2;

    /// <summary>Interrupted by Ctrl-C or SIGTERM; the result contains the finished rows.</summary>
    internal const int Interrupted = 130;

    internal const string Help =
        "Exit codes: 0 success; 1 a row failed or does not fit into memory, or a file could not be written; 2 invalid argument; "
        + "130 interrupted (finished rows are in the tables and files).";
}
