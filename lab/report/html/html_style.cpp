// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/html/html_style.hpp"

namespace tenure::lab {

namespace {

// Every role differs by pattern and lightness, so that it can be recognized in a grey print; colour only helps.
constexpr std::string_view style = R"css(
:root {
  color-scheme: light dark;
  --page: #fff; --panel: #f6f7f9; --ink: #1a1d21; --soft: #565e68; --rule: #d9dde2; --grid: #e4e7eb;
  --ours: #0b57b0; --ours-soft: #e8f1fc; --peer: #cfd6de; --edge: #6d7782; --bad: #a3271b; --good: #1a6b36;
  --warn: #7a4b00; --warn-soft: #fff4dc; --s1: #edf3fa; --s2: #d5e5f6; --s3: #b3d1f0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171b; --panel: #1c2026; --ink: #e7eaee; --soft: #a9b2bd; --rule: #363c45; --grid: #2a3038;
    --ours: #69b1ff; --ours-soft: #17283d; --peer: #46505c; --edge: #8f9baa; --bad: #ff9a8d; --good: #7fd69a;
    --warn: #f5cf86; --warn-soft: #35290f; --s1: #1b2a3a; --s2: #1f3a57; --s3: #275280;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
.page { max-width: 1320px; margin: 0 auto; padding: 0 1.25rem 4rem; }
h1, h2, h3, h4 { line-height: 1.25; letter-spacing: -.01em; }
h1 { font-size: 1.9rem; margin: 0; }
h2 { font-size: 1.55rem; margin: 0 0 .3rem; }
h3 { font-size: 1.12rem; margin: 2.4rem 0 .6rem; padding-top: .55rem; border-top: 1px solid var(--rule); }
h4 { font-size: .98rem; margin: 1.6rem 0 .5rem; }
h4 small { font-weight: 400; color: var(--soft); }
h2, h3 { scroll-margin-top: .5rem; }
p { margin: .5rem 0; max-width: 46rem; }
ul { padding-left: 1.2rem; max-width: 46rem; }
li { margin: .25rem 0; }
a { color: var(--ours); }
code { font: .92em ui-monospace, "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
header { padding: 2rem 0 1.2rem; border-bottom: 3px solid var(--ink); margin-bottom: 1.5rem; }
header p { margin: .3rem 0 0; color: var(--soft); overflow-wrap: anywhere; max-width: none; }
.notice { border: 1px solid var(--warn); border-left-width: 6px; background: var(--warn-soft); color: var(--warn);
  padding: .6rem .9rem; margin: 1rem 0; max-width: none; }
.body { display: grid; grid-template-columns: minmax(0, 1fr); }
nav { font-size: .92rem; margin-bottom: 1rem; }
nav h2 { font-size: .8rem; text-transform: uppercase; letter-spacing: .06em; color: var(--soft); margin: 0 0 .4rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav ul ul { padding-left: .9rem; }
nav ul ul li { display: inline-block; margin: 0 .8rem .1rem 0; }
nav > ul > li > a { font-weight: 600; }
nav a { text-decoration: none; }
nav a:hover { text-decoration: underline; }
@media (min-width: 1120px) {
  .body { grid-template-columns: 11.5rem minmax(0, 1fr); column-gap: 2.5rem; }
  nav { position: sticky; top: 1rem; align-self: start; max-height: calc(100vh - 2rem); overflow-y: auto; }
  nav ul ul li { display: block; margin: 0; }
}
.experiment, .closing { margin-bottom: 4.5rem; }
.question { font-size: 1.12rem; margin: 0 0 .6rem; }
.about { color: var(--soft); }
.unit, .tick, .spread { color: var(--soft); font-weight: 400; }
.conditions { list-style: none; padding: 0; margin: 0 0 1rem; color: var(--soft); font-size: .88rem; max-width: none; }
.conditions li { display: inline-block; margin: 0 1rem .1rem 0; }
.summary { background: var(--panel); border-left: 4px solid var(--ours); padding: .5rem 1rem .7rem; }
.summary p { font-size: 1.02rem; }
.scroll { overflow-x: auto; margin: .7rem 0 1.4rem; max-width: 100%; }
table { border-collapse: collapse; font-size: .875rem; line-height: 1.35; }
caption { text-align: left; color: var(--soft); padding: 0 0 .4rem; }
/* Stays in sight while its table scrolls sideways. */
caption span { position: sticky; left: 0; display: inline-block; max-width: min(44rem, calc(100vw - 4rem));
  white-space: normal; }
th, td { padding: .3rem .65rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--rule); }
thead th { border-bottom: 1px solid var(--edge); font-weight: 600; vertical-align: bottom; white-space: nowrap; }
tbody th { font-weight: 400; white-space: nowrap; position: sticky; left: 0; background: var(--page); }
thead tr:first-child th:first-child { position: sticky; left: 0; background: var(--page); }
.summary tbody th, .summary thead tr:first-child th:first-child { background: var(--panel); }
thead tr:nth-child(2) th, th.group, thead th.num { text-align: right; }
th.group { border-bottom: 1px solid var(--rule); }
.num { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.first, th.first, .matrix .group, .matrix td { border-left: 1px solid var(--rule); }
.none { color: var(--soft); }
.matrix th.group, .matrix thead tr:nth-child(2) th { white-space: normal; min-width: 4.2rem; }
.matrix th, .matrix td { padding-left: .35rem; padding-right: .35rem; }
.matrix td.none { text-align: right; }
.matrix tbody th { white-space: normal; min-width: 9rem; }
.choices thead th, .choices tbody th { white-space: normal; }
.choices tbody th { min-width: 8rem; }
.choices th, .choices td { padding-left: .5rem; padding-right: .5rem; }
.summary .scroll { margin-bottom: .3rem; }
.charts .scroll { margin-top: 0; }
.charts tbody th { white-space: normal; } .charts th, .charts td { padding-left: .45rem; padding-right: .45rem; }
tr.ours > th { box-shadow: inset 4px 0 var(--ours); font-weight: 650; }
.tag { font-size: .82em; font-weight: 600; border: 1px solid var(--edge); border-radius: 3px; padding: 0 .28rem;
  color: var(--soft); white-space: nowrap; vertical-align: .08em; }
.tag.ours { border-color: var(--ours); color: var(--ours); }
.tag.reference, .tag.checked { border-style: dashed; }
.tag.failed { color: var(--bad); border-color: var(--bad); }
.mark { color: var(--bad); border: 1px solid var(--bad); border-radius: 3px; padding: 0 .35rem; white-space: nowrap; }
.s1 { background: var(--s1); } .s2 { background: var(--s2); } .s3 { background: var(--s3); }
.matrix td.best { outline: 2px solid var(--ink); outline-offset: -2px; }
.leads { color: var(--good); font-weight: 600; } .trails { color: var(--bad); font-weight: 600; }
.words thead th { white-space: normal; }
.words td { min-width: 5.2rem; max-width: 26rem; overflow-wrap: anywhere; }
.legend { list-style: none; padding: 0; font-size: .84rem; color: var(--soft); max-width: none; }
.legend li { display: inline-block; margin: 0 1.1rem .15rem 0; }
.swatch { width: 16px; height: 11px; vertical-align: -1px; } .swatch.wide { width: 34px; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(330px, 100%), 1fr)); gap: 1.4rem 2rem;
  align-items: start; margin: .4rem 0 1.2rem; }
.charts figure { max-width: 500px; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(330px, 100%), 1fr)); gap: 1.2rem; }
.card { border: 1px solid var(--rule); border-radius: 6px; padding: .1rem .9rem .7rem; }
.card.ours { border-color: var(--ours); border-width: 2px; }
.card h4 { margin: .6rem 0; }
figure { margin: 0 0 .4rem; break-inside: avoid; }
figcaption { font-size: .86rem; line-height: 1.35; margin-bottom: .35rem; }
.key { font-size: .8rem; color: var(--soft); margin: 0 0 .3rem; }
figure > svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { font-size: 12px; fill: var(--ink); }
svg text.tick, svg text.note { font-size: 11px; fill: var(--soft); font-variant-numeric: tabular-nums; }
svg text.note { fill: var(--ink); font-weight: 600; paint-order: stroke; stroke: var(--page); stroke-width: 3px; }
svg text.label { font-variant-numeric: tabular-nums; white-space: pre; paint-order: stroke; stroke: var(--page);
  stroke-width: 3px; }
svg text.label.ours { font-weight: 700; fill: var(--ours); }
rect.ours { fill: var(--ours); stroke: var(--ours); }
rect.peer { fill: var(--peer); stroke: var(--edge); }
rect.baseline { fill: url(#hatch); stroke: var(--edge); }
rect.reference { fill: none; stroke: var(--edge); stroke-dasharray: 3 2; }
rect.checked { fill: none; stroke: var(--ours); stroke-dasharray: 3 2; }
rect.second { fill: url(#dots); } rect.third { fill: none; }
rect.ours.second { fill: url(#dots-ours); }
rect.bucket { fill: var(--peer); stroke: var(--edge); }
.card.ours rect.bucket { fill: var(--ours); stroke: var(--ours); }
.stem { stroke: var(--edge); stroke-width: 1.5px; }
.grid { stroke: var(--grid); } .zero { stroke: var(--edge); }
.break { stroke: var(--edge); stroke-dasharray: 1 3; }
.baseline-mark { stroke: var(--edge); stroke-dasharray: 2 3; fill: none; }
.halo { stroke: var(--page); stroke-width: 3.2px; fill: none; }
.whisker { stroke: var(--ink); stroke-width: 1.4px; fill: none; }
.rounds { stroke: var(--ink); stroke-width: 3px; stroke-linecap: round; fill: none; opacity: .6; }
.points { stroke: var(--ink); stroke-width: 2.8px; stroke-linecap: round; fill: none; }
.card.ours .points { stroke: var(--ours); }
.clipped { fill: var(--bad); }
figure.wide { max-width: 860px; }
.course { stroke: var(--edge); stroke-width: 1.6px; fill: none; }
.course.ours { stroke: var(--ours); stroke-width: 3px; }
.course.baseline { stroke-width: 2px; stroke-dasharray: 8 4; }
.course.reference { stroke-dasharray: 2 3; }
.course.checked { stroke: var(--ours); stroke-dasharray: 4 3; }
.leader { stroke: var(--grid); }
.budget { stroke: var(--ink); stroke-dasharray: 5 3; }
.patterns { position: absolute; width: 0; height: 0; }
.hatch-ground { fill: var(--page); } .hatch-line { stroke: var(--edge); stroke-width: 2px; }
.dot-line { fill: var(--edge); } .dot-line.ours { fill: var(--ours); }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .25rem 1.2rem; margin: .5rem 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 560px) {
  .page { padding: 0 .9rem 3rem; }
  h1 { font-size: 1.55rem; }
  tbody th { white-space: normal; min-width: 7.5rem; max-width: 10.5rem; }
  th, td { padding: .3rem .5rem; }
  dl { grid-template-columns: minmax(0, 1fr); gap: 0; } dd { margin-bottom: .5rem; }
}
@media print {
  :root { color-scheme: light;
    --page: #fff; --panel: #fff; --ink: #000; --soft: #333; --rule: #bbb; --grid: #ddd; --ours: #000; --ours-soft: #fff;
    --peer: #ddd; --edge: #555; --bad: #000; --good: #000; --warn: #000; --warn-soft: #fff;
    --s1: #f4f4f4; --s2: #e6e6e6; --s3: #d2d2d2; }
  body { font-size: 10pt; }
  .page { max-width: none; padding: 0; }
  .body { display: block; }
  nav { position: static; max-height: none; }
  .scroll { overflow: visible; }
  table { font-size: 7.5pt; }
  th, td { padding: .15rem .35rem; }
  .matrix thead tr:nth-child(2) th, .words td, .choices tbody th { min-width: 0; }
  thead th { white-space: normal; }
  .words th, .words td { padding: .15rem .25rem; }
  tbody th, thead tr:first-child th:first-child { position: static; white-space: normal; }
  tr, figure, .card, .summary { break-inside: avoid; }
  h2, h3, h4 { break-after: avoid; }
  .experiment + .experiment { break-before: page; }
  .charts, .cards { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .s1, .s2, .s3, .notice { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
)css";

constexpr std::string_view patterns =
    R"svg(<svg class="patterns" aria-hidden="true"><defs>
<pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="5" height="5" class="hatch-ground"/><path d="M0 0V5" class="hatch-line"/></pattern>
<pattern id="dots" width="4" height="4" patternUnits="userSpaceOnUse"><rect width="4" height="4" class="hatch-ground"/><rect x="1" y="1" width="1.6" height="1.6" class="dot-line"/></pattern>
<pattern id="dots-ours" width="4" height="4" patternUnits="userSpaceOnUse"><rect width="4" height="4" class="hatch-ground"/><rect x="1" y="1" width="1.8" height="1.8" class="dot-line ours"/></pattern>
</defs></svg>
)svg";

}

std::string_view html_style() { return style; }

std::string_view html_patterns() { return patterns; }

}
