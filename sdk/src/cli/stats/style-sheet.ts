/** Looks of the page, light and dark: as the reader's system has it, or as chosen on the page. */
import { FLUSH_COLOURS, REASON_COLOURS } from '../../base/colours.js';

const LIGHT = `
  --page: #f6f7f9; --panel: #ffffff; --ink: #1b2330; --soft: #5b6676; --line: #e1e5eb; --grid: #e9ecf1;
  --c0: #2563c9; --c1: #d9772b; --c2: #2c9a66; --c3: #b8417f; --c4: #7b5bd0; --c5: #1597a5; --c6: #a8811a; --c7: #c94545;
  --good: #2c9a66; --stall: #d9972b; --flush: ${FLUSH_COLOURS.light}; --latency: #1597a5; --buffer: #7b5bd0; color-scheme: light;`;

const DARK = `
  --page: #12161d; --panel: #1a2029; --ink: #e4e9f1; --soft: #98a4b5; --line: #2b3441; --grid: #252d38;
  --c0: #6ba2f5; --c1: #f0a05f; --c2: #5cc795; --c3: #e583b6; --c4: #a98ff0; --c5: #4fc6d3; --c6: #d9b44c; --c7: #ee7f7f;
  --good: #5cc795; --stall: #e0b050; --flush: ${FLUSH_COLOURS.dark}; --latency: #4fc6d3; --buffer: #a98ff0; color-scheme: dark;`;

const REASONS = REASON_COLOURS.map((colour, place) => `--r${place}: ${colour};`).join(' ');

export const STYLE_SHEET = `
:root {${LIGHT} ${REASONS}}
@media (prefers-color-scheme: dark) { :root:not([data-theme=light]) {${DARK}} }
:root[data-theme=dark] {${DARK}}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 14px/1.45 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
header, main, footer { max-width: 1240px; margin: 0 auto; padding: 0 24px; }
header { display: flex; gap: 16px; align-items: flex-start; padding-top: 28px; }
header > div { flex: 1; min-width: 0; }
h1 { font-size: 24px; line-height: 1.2; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 32px 0 2px; }
h3 { font-size: 14px; margin: 0 0 2px; }
h3::first-letter, .tile dt::first-letter { text-transform: uppercase; }
p { margin: 0; }
.about, .remark, footer { color: var(--soft); }
.about { overflow-wrap: anywhere; }
.remark { font-size: 12.5px; margin-bottom: 6px; }
nav { margin-top: 8px; }
nav a { color: var(--c0); margin-right: 14px; }
button, select { font: inherit; color: var(--ink); background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 4px 10px; }
button { cursor: pointer; white-space: nowrap; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 14px 0; }
.tile, .panel { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; }
.tile { padding: 10px 14px; }
.tile dt { color: var(--soft); font-size: 12.5px; }
.tile dd { margin: 0; font-size: 24px; font-weight: 600; line-height: 1.25; font-variant-numeric: tabular-nums; }
.tile p { color: var(--soft); font-size: 12px; overflow-wrap: anywhere; }
.grid { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 14px; }
.panel { padding: 14px 16px; min-width: 0; }
.panel.wide { grid-column: 1 / -1; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 10px; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
tbody tr:last-child > * { border-bottom: 0; }
tbody tr:hover > * { background: color-mix(in srgb, var(--c0) 7%, transparent); }
th { font-weight: 500; }
thead th { color: var(--soft); font-size: 12px; }
.text { text-align: left; }
td.text { white-space: normal; }
th:first-child { padding-left: 0; }
.bar { display: inline-block; width: 100%; min-width: 60px; height: 9px; border-radius: 2px; background: var(--grid); vertical-align: middle; overflow: hidden; }
.bar i { display: block; height: 100%; min-width: 1px; }
.good i { background: var(--good); } .stall i { background: var(--stall); } .flush i { background: var(--flush); }
.latency i { background: var(--latency); } .buffer i { background: var(--buffer); }
.spark { display: block; } .spark polyline { fill: none; stroke: var(--c0); stroke-width: 1.3; }
.ok { color: var(--good); } .off { color: var(--flush); font-weight: 600; }
.controls { display: flex; gap: 10px; align-items: center; flex-wrap: wrap; margin-bottom: 6px; font-size: 13px; }
.controls label { color: var(--soft); }
.plot { min-height: 120px; }
.plot.fixed .u-legend .u-series > * { cursor: default; pointer-events: none; }
.uplot, .uplot *, .u-legend { font-family: inherit; }
.u-legend { font-size: 12.5px; text-align: left; color: var(--ink); }
.u-legend th { padding: 2px 4px; border: 0; font-weight: 500; } .u-legend td { padding: 2px 10px 2px 0; border: 0; font-variant-numeric: tabular-nums; }
.u-legend tr:hover > * { background: none; }
.u-inline tr { margin-right: 8px; }
.u-select { background: color-mix(in srgb, var(--c0) 18%, transparent); }
.u-hz .u-cursor-x, .u-hz .u-cursor-y { border-color: var(--soft); }
footer { padding-top: 28px; padding-bottom: 32px; font-size: 12.5px; }
@media (max-width: 860px) { .grid { grid-template-columns: minmax(0, 1fr); } header, main, footer { padding-left: 14px; padding-right: 14px; } }
@media print {
  body { background: #fff; } button, .controls { display: none; } .panel, .tile { break-inside: avoid; }
  header, main, footer { max-width: none; }
}
`;
