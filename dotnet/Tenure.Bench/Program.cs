// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using Tenure.Bench;

// The tool starts itself once for each measured row: what comes first tells a child from a person's command line.
return args switch
{
    [CaseWorker.Word, ..] => CaseWorker.Run(args),
    [LifetimeWorker.Word, ..] => LifetimeWorker.Run(args),
    _ => Tenure.Bench.CommandLine.Run(args),
};
