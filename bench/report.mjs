// @ts-check
/**
 * What `bench -- report` writes from the JSON of runs into docs/explanation/performance.md: ratios, plots and all rows.
 * It replaces only what is between the markers of the page.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderBars, renderPlot } from './plot.mjs';
import { ratiosOf, ratioTable } from './ratios.mjs';
import { format, shownValue, targetText } from './table.mjs';

/** @typedef {import('./results.mjs').Results} Results */
/** @typedef {import('./table.mjs').Row} Row */

const DOCS = fileURLToPath(new URL('../docs/explanation/', import.meta.url));
/** @typedef {{begin: string, end: string}} Markers */
/** @type {Markers} */
export const RATIO_MARKERS = {
  begin: '<!-- ratios: written by npm run bench -- report -->',
  end: '<!-- end of the ratios -->',
};
/** @type {Markers} */
export const TABLE_MARKERS = {
  begin: '<!-- results: written by npm run bench -- report -->',
  end: '<!-- end of the results -->',
};

/** @type {Record<string, {title: string, x: string, y: string}>} */
const PLOTS = {
  latency: {
    title: 'Time of a cycle’s calls, by what the model needs for a cycle',
    x: 'ns of the model per cycle',
    y: 'ns',
  },
  memory: { title: 'Memory and the length of a trace', x: 'cycles of 7 items', y: 'MB' },
  length: { title: 'Cost and the length of a trace', x: 'cycles of 8 items', y: 'ns/item' },
  width: { title: 'Cost and items per cycle', x: 'items per cycle', y: 'ns/item' },
  storages: {
    title: 'Cost and the number of storages',
    x: 'storages of 64 slots, 8 items per cycle',
    y: 'ns/item',
  },
  cores: {
    title: 'Cost and the number of traces at the same time',
    x: 'traces, one thread each',
    y: 'ns/item',
  },
};

/** @type {Record<string, {title: string, benchmark: string, row: RegExp}>} The name of a bar is what `row` captures. */
const BARS = {
  demo: { title: 'Run of the demo core', benchmark: 'demo', row: /^(.+): simulator process$/ },
  size: { title: 'Size of the file', benchmark: 'size', row: /^size of the file, (.+)$/ },
};

/**
 * @param {readonly Results[]} runs at least one; ratios and plots are of the first
 * @param {string} [docs] the folder of performance.md
 * @returns {string[]} files written
 */
export function writeReport(runs, docs = DOCS) {
  const plots = plotsOf(runs[0]);
  const folder = join(docs, 'performance');
  mkdirSync(folder, { recursive: true });
  for (const [name, svg] of plots) writeFileSync(join(folder, `${name}.svg`), svg);
  const page = join(docs, 'performance.md');
  rewrite(page, RATIO_MARKERS, renderRatios(runs[0]));
  rewrite(page, TABLE_MARKERS, renderReport(runs));
  return [page, ...[...plots.keys()].map((name) => join(folder, `${name}.svg`))];
}

/** @param {string} page @param {Markers} markers @param {string} content */
function rewrite(page, markers, content) {
  writeFileSync(page, insert(readFileSync(page, 'utf8'), content, markers));
}

/** @param {string} page @param {string} content @param {Markers} markers */
export function insert(page, content, { begin, end } = TABLE_MARKERS) {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page needs the lines ${begin} and ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${content}\n${page.slice(to)}`;
}

/** @param {Results} results @returns {Map<string, string>} SVG by name */
export function plotsOf(results) {
  const rows = Object.values(results.results).flat();
  /** @type {Map<string, string>} */
  const plots = new Map();
  for (const [name, { title, benchmark, row }] of Object.entries(BARS)) {
    const bars = (results.results[benchmark] ?? []).flatMap((candidate) => {
      const [, bar] = row.exec(candidate.name) ?? [];
      return bar ? [{ name: bar, value: candidate.value, shown: shownValue(candidate) }] : [];
    });
    if (bars.length > 0) plots.set(name, renderBars({ title, bars }));
  }
  for (const [series, { title, x, y }] of Object.entries(PLOTS)) {
    const own = rows.filter((row) => row.series === series);
    if (own.length === 0) continue;
    const names = [...new Set(own.map(({ line = '' }) => line))];
    const lines = names.map((name) => ({
      name,
      points: own
        .filter(({ line = '' }) => line === name)
        .map(({ x = 0, value, min = value, max = value }) => ({ x, y: value, min, max })),
    }));
    plots.set(series, renderPlot({ title, x, y, lines }));
  }
  return plots;
}

/**
 * The ratios of one run, then its plots.
 * @param {Results} run
 * @returns {string} Markdown
 */
export function renderRatios(run) {
  const { machine, options, date } = run;
  const plots = [...plotsOf(run).keys()].flatMap((name) => {
    const { title } = PLOTS[name] ?? BARS[name];
    return ['', `![${title}](performance/${name}.svg)`];
  });
  return [
    `Measured ${date.slice(0, 10)} on ${machine.cpu}, ${machine.cores} cores, workload \`${options.workload}\`, medians of ${options.runs} runs.`,
    '',
    ...ratioTable(ratiosOf(run)),
    ...plots,
    '',
  ].join('\n');
}

/**
 * All rows, a section per run with its machine as the heading.
 * @param {readonly Results[]} runs
 * @returns {string} Markdown
 */
export function renderReport(runs) {
  return runs.map(sectionOf).join('\n');
}

/** @param {Results} results */
function sectionOf(results) {
  const { machine, versions, options, command, date } = results;
  const tools = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const head = [
    `### Results on ${machine.cpu}`,
    '',
    `Measured ${date.slice(0, 10)} on ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.system}; ${tools.join('; ')}.`,
    `Load average (1 min) at the beginning and at the end: ${machine.load.join(' and ')}.`,
    `Workload \`${options.workload}\`, compression \`${options.compression}\`, medians of ${options.runs} runs. Command:`,
    '',
    `    ${command}`,
  ];
  const tables = Object.entries(results.results).flatMap(([name, rows]) => [
    '',
    `#### ${name}`,
    '',
    ...tableOf(rows),
  ]);
  return [...head, ...tables, ''].join('\n');
}

/** @param {readonly Row[]} rows */
function tableOf(rows) {
  return [
    '| what | median | runs between | target | limit, measured in the same run |',
    '|---|---|---|---|---|',
    ...rows.map(
      (row) =>
        `| ${[cell(row.name), shownValue(row), range(row), targetText(row), cell(row.limit ?? '')].join(' | ')} |`,
    ),
  ];
}

/** @param {Row} row */
function range({ min, max, unit }) {
  if (min === undefined || max === undefined) return '';
  if (unit !== 'ns') return `${format(min)} … ${format(max)}`;
  return `${shownValue({ name: '', value: min, unit })} … ${shownValue({ name: '', value: max, unit })}`;
}

/** @param {string} content */
const cell = (content) => content.replace(/\|/g, '\\|');
