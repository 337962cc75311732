// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Linq;
using Xunit;

namespace Tenure.Tests;

public sealed class TenureOptionsTests
{
    [Fact]
    public void every_option_says_what_it_is()
    {
        Assert.Contains(TenureOptions.All, option => option.Name == "temp_budget_bytes");
        Assert.All(TenureOptions.All, option =>
        {
            Assert.StartsWith("TENURE_", option.EnvironmentVariable, StringComparison.Ordinal);
            Assert.EndsWith(".", option.Help, StringComparison.Ordinal);
            Assert.InRange(option.Value, option.Lowest, option.Highest);
            Assert.Equal(option.Value, TenureOptions.Get(option.Name));
            Assert.Equal(option.Value, TenureOptions.Get(option.EnvironmentVariable));
        });
    }

    [Fact]
    public void a_value_is_set_as_the_environment_would_say_it()
    {
        ulong before = TenureOptions.Get("temp_job_frames");
        TenureOptions.Set("temp_job_frames", before);
        Assert.Equal(OptionOrigin.Program, TenureOptions.All.Single(option => option.Name == "temp_job_frames").Origin);
        TenureOptions.Set("affinity_block_bytes", "4M");
        Assert.Equal(4ul << 20, TenureOptions.Get("TENURE_AFFINITY_BLOCK"));
    }

    [Fact]
    public void an_unknown_name_is_told_what_there_is()
    {
        foreach (string name in (string[])["", "temp_budget", new string('x', 500)])
        {
            ArgumentException thrown = Assert.Throws<ArgumentException>(() => { TenureOptions.Get(name); });
            Assert.Contains("temp_budget_bytes", thrown.Message, StringComparison.Ordinal);
            Assert.Throws<ArgumentException>(() => TenureOptions.Set(name, 1));
        }
        Assert.Throws<ArgumentNullException>(() => { TenureOptions.Get(null!); });
        Assert.Throws<ArgumentNullException>(() => TenureOptions.Set(null!, "1"));
        Assert.Throws<ArgumentNullException>(() => TenureOptions.Set("temp_budget_bytes", null!));
    }

    [Fact]
    public void an_invalid_value_is_told_what_is_valid_and_changes_nothing()
    {
        ulong before = TenureOptions.Get("temp_job_frames");
        foreach (string value in (string[])["", "many", "-1", "0", "100000000", "4M"])
        {
            ArgumentException thrown = Assert.Throws<ArgumentException>(() => TenureOptions.Set("temp_job_frames", value));
            Assert.Contains("1 to 1000", thrown.Message, StringComparison.Ordinal);
            Assert.Equal("value", thrown.ParamName);
        }
        Assert.Throws<ArgumentException>(() => TenureOptions.Set("temp_job_frames", ulong.MaxValue));
        Assert.Equal(before, TenureOptions.Get("temp_job_frames"));
    }
}
