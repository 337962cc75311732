// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Linq;
using Xunit;

namespace Tenure.Tests;

public sealed class JemConfTests
{
    [Theory]
    [InlineData("", "")]
    [InlineData("a:b", "a=b@2")]
    [InlineData("narenas:4,retain:false", "narenas=4@8 retain=false@17")]
    [InlineData("prof_prefix:", "prof_prefix=@12")]
    [InlineData("slab_sizes:1-64:4|65-128:2,zero:true", "slab_sizes=1-64:4|65-128:2@11 zero=true@32")]
    public void a_configuration_is_settings_with_their_places(string conf, string wanted) => Assert.Equal(
        wanted, string.Join(' ', JemConf.Parse(conf).Select(each => $"{each.Key}={each.Value}@{each.Position}")));

    [Theory]
    [InlineData("12", 12L)]
    [InlineData("-1", -1L)]
    [InlineData("0x1F", 31L)]
    [InlineData("18446744073709551615", -1L)]
    [InlineData("1k", null)]
    [InlineData("", null)]
    [InlineData("0x", null)]
    public void numbers_are_jemallocs(string text, long? wanted) => Assert.Equal(wanted, JemConf.Number(text));

    [Theory]
    [InlineData("retian", "retain")]
    [InlineData("opt.narena", "opt.narenas")]
    [InlineData("something_else_altogether", "")]
    public void a_slip_is_recognised(string name, string wanted) => Assert.Equal(
        wanted.Length == 0 ? "" : $"; did you mean \"{wanted}\"?", JemallocKeys.DidYouMean(name));

    [Theory]
    [InlineData("arena.17.dss", true)]
    [InlineData("stats.arenas.0.dss", true)]
    [InlineData("version", true)]
    [InlineData("stats.allocated", false)]
    [InlineData("arena.x.dss", false)]
    public void texts_are_known(string key, bool wanted) => Assert.Equal(wanted, JemallocKeys.IsText(key));
}
