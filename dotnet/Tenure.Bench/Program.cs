// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using Tenure.Bench;

// The tool starts itself once for each measured row: the first argument distinguishes a child's command line from a
// user's.
return args switch
{
    [CaseWorker.Word, ..] => CaseWorker.Run(args),
    [LifetimeWorker.Word, ..] => LifetimeWorker.Run(args),
    _ => Tenure.Bench.CommandLine.Run(args),
};
