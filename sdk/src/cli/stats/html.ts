/** The performance report as one self-contained web page: plots, tables, light and dark. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { DutProperties } from '../../format/types.js';
import type { PerformanceReport } from '../../semantics/cpu/analysis/report.js';
import { grouped } from '../common/number-format.js';
import { chartData } from './chart-data.js';
import { EMPTY, escaped, html, type Markup, scriptData } from './markup.js';
import { PAGE_SCRIPT } from './page-script.js';
import { coreSection, summarySection } from './sections.js';
import { STYLE_SHEET } from './style-sheet.js';

export interface PageSubject {
  /** Of the trace file. */
  readonly name: string;
  readonly dut: DutProperties;
  /** Stall reasons of each core, as `toldApart` gives them: they have the colours of the viewer. */
  readonly reasons: readonly (readonly string[])[];
}

/** Nothing may be loaded: the page works from a mail, without a network, and tells nobody that it is read. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

export function reportPage(report: PerformanceReport, { name, dut, reasons }: PageSubject): string {
  const { cores, percentiles } = report;
  const assets = plotLibrary();
  const title = `${name}: performance`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${assets.css}</style>
<style>${STYLE_SHEET}</style>
</head>
<body>
${header(report, name, dut).html}
<main>
${summarySection(cores).html}${cores.map((core, index) => coreSection(core, index, percentiles).html).join('')}</main>
<footer><p>Made by uscope from ${escaped(name)}. Hover over a plot for its values, drag across to zoom, double-click to go back.</p></footer>
<script type="application/json" id="data">${scriptData(chartData(report, reasons))}</script>
<script>/*
${assets.licence}
*/
${assets.script}</script>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`;
}

function header({ cores, fromPs, toPs }: PerformanceReport, name: string, dut: DutProperties): Markup {
  const property = (key: string): string | undefined => dut.find(([known]) => known === key)?.[1];
  const design = property('dut_name');
  const range = `${grouped(fromPs)} to ${grouped(toPs)} ps`;
  const links =
    cores.length < 2
      ? EMPTY
      : html`<nav>${cores.map(({ core }, index) => html`<a href="#core${index}">${core}</a>`)}</nav>`;
  return html`<header><div><h1>${design ?? name}</h1>
<p class="about">${design === undefined ? '' : `${name}, `}${range}</p>${links}</div>
<button id="theme" type="button" hidden>Light / dark</button></header>`;
}

interface Library {
  readonly script: string;
  readonly css: string;
  readonly licence: string;
}

/** uPlot, as it is installed. */
function plotLibrary(): Library {
  const directory = dirname(createRequire(import.meta.url).resolve('uplot'));
  const read = (...path: readonly string[]): string => readFileSync(join(directory, ...path), 'utf8').trim();
  return {
    // Neither may end the element it is in.
    script: read('uPlot.iife.min.js').replaceAll('</script', '<\\/script'),
    css: read('uPlot.min.css').replaceAll('</style', '<\\/style'),
    licence: `uPlot\n\n${read('..', 'LICENSE').replaceAll('*/', '* /')}`,
  };
}
