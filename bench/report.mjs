// @ts-check
/** Tables and plots of docs/performance.md, from the JSON of runs. What stands outside the markers is written by people. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderPlot } from './plot.mjs';
import { format, shownValue, targetText } from './table.mjs';

/** @typedef {import('./results.mjs').Results} Results */
/** @typedef {import('./table.mjs').Row} Row */

const DOCS = fileURLToPath(new URL('../docs/', import.meta.url));
const BEGIN = '<!-- results: written by npm run bench -- report -->';
const END = '<!-- end of the results -->';

/** @type {Record<string, {title: string, x: string}>} */
const PLOTS = {
  length: { title: 'Cost and the length of a trace', x: 'cycles of 8 items' },
  width: { title: 'Cost and items per cycle', x: 'items per cycle' },
  storages: { title: 'Cost and the number of storages', x: 'storages of 64 slots, 8 items per cycle' },
  cores: { title: 'Cost and the number of traces at once', x: 'traces at once, one thread each' },
};

/**
 * @param {readonly Results[]} runs at least one; the plots are of the first
 * @param {string} [docs] the folder of performance.md
 * @returns {string[]} files written
 */
export function writeReport(runs, docs = DOCS) {
  const page = join(docs, 'performance.md');
  const plots = plotsOf(runs[0]);
  const folder = join(docs, 'performance');
  mkdirSync(folder, { recursive: true });
  for (const [name, svg] of plots) writeFileSync(join(folder, `${name}.svg`), svg);
  writeFileSync(page, insert(readFileSync(page, 'utf8'), renderReport(runs)));
  return [page, ...[...plots.keys()].map((name) => join(folder, `${name}.svg`))];
}

/** @param {string} page @param {string} report */
export function insert(page, report) {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`the page needs the lines ${BEGIN} and ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${report}\n${page.slice(end)}`;
}

/** @param {Results} results @returns {Map<string, string>} SVG by series */
export function plotsOf(results) {
  const rows = Object.values(results.results).flat();
  /** @type {Map<string, string>} */
  const plots = new Map();
  for (const [series, { title, x }] of Object.entries(PLOTS)) {
    const own = rows.filter((row) => row.series === series);
    if (own.length === 0) continue;
    const names = [...new Set(own.map(({ line = '' }) => line))];
    const lines = names.map((name) => ({
      name,
      points: own
        .filter(({ line = '' }) => line === name)
        .map(({ x = 0, value, min = value, max = value }) => ({ x, y: value, min, max })),
    }));
    plots.set(series, renderPlot({ title, x, y: 'ns/item', lines }));
  }
  return plots;
}

/**
 * One section per run, called after its machine; the plots stand in the first.
 * @param {readonly Results[]} runs
 * @returns {string} Markdown
 */
export function renderReport(runs) {
  const plots = [...plotsOf(runs[0]).keys()].map(
    (name) => `![${PLOTS[name].title}](performance/${name}.svg)`,
  );
  const sections = runs.map((run, i) => sectionOf(run, i === 0 ? plots : []));
  return sections.join('\n');
}

/** @param {Results} results @param {readonly string[]} images */
function sectionOf(results, images) {
  const { machine, versions, options, command, date } = results;
  const told = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const head = [
    `### Results on ${machine.cpu}`,
    '',
    `Measured ${date.slice(0, 10)} on ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.system}; ${told.join('; ')}.`,
    `Processes that wanted a core in the minute before it began and before it ended: ${machine.load.join(' and ')}.`,
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
  return [...head, ...tables, ...(images.length ? ['', '#### Plots', '', images.join('\n\n')] : []), ''].join(
    '\n',
  );
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
