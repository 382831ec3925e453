/** The tables of the page, one section per core. */
import { maxOf, minOf } from '../../base/arrays.js';
import {
  comparedTables,
  type FigureRow,
  type FigureTable,
  figureTables,
} from '../../semantics/cpu/analysis/figures.js';
import type { CoreReport, PercentileError } from '../../semantics/cpu/analysis/report.js';
import { figureText, grouped, percent, remarkText } from '../common/number-format.js';
import { barCell, type Column, EMPTY, html, type Markup, panel, tableOf } from './markup.js';

const text = (name: string): Column => ({ name, isText: true });
const numbers = (...names: readonly string[]): Column[] => names.map((name) => ({ name }));

/** Where a script draws: `kind` says what, `core` of which core. */
function plot(kind: string, core: number): Markup {
  return html`<div class="plot" data-plot="${kind}" data-core="${core}"></div>`;
}

export function summarySection(cores: readonly CoreReport[]): Markup {
  if (cores.length < 2) return EMPTY;
  const columns = [text(''), ...cores.map(({ core }) => ({ name: core }))];
  const rows = comparedTables(cores).flatMap(({ figures }) =>
    figures.map(({ name, unit, values }) => [
      name,
      ...values.map((value) => figureText({ unit, value }, grouped)),
    ]),
  );
  return html`<section class="core" id="summary"><h2>Side by side</h2><div class="grid">
${panel('Cores', '', tableOf(columns, rows))}
${panel('IPC over time', '', html`<div class="plot" data-plot="cores"></div>`)}
</div></section>\n`;
}

export function coreSection(core: CoreReport, index: number, error: PercentileError): Markup {
  const [overview, ...tables] = figureTables(core);
  const hasTime = (core.series?.ipc.length ?? 0) > 1;
  const time = (title: string, remark: string, kind: string, is = true): Markup =>
    panel(title, remark, hasTime && is ? plot(kind, index) : EMPTY, 'wide');
  const stays = core.stages.some(({ latency }) => latency.count > 0);
  const [hasStalls, hasFlushes] = [core.stalls.reasons.length > 0, core.flushes.flushes > 0];
  const [hasBuffers, hasCounters] = [core.buffers.length > 0, core.counters.length > 0];
  const latency = 'visits by cycles; values that do not occur are left out';
  return html`<section class="core" id="core${index}"><h2>${core.core}</h2>
<p class="about">${about(core)}</p>
${overview ? tiles(overview) : EMPTY}
<div class="grid">
${time('IPC over time', '', 'ipc')}
${time('Stalled cycles over time', 'share of the cycles, by reason', 'stalls', hasStalls)}
${time('Flushes over time', 'per 1000 cycles', 'flushes', hasFlushes)}
${tables.map((table) => figurePanel(table, error))}
${panel('Distribution of the latency', latency, stays ? plot('latency', index) : EMPTY)}
${panel('Distribution of the occupancy', 'cycles by occupied slots', hasBuffers ? plot('occupancy', index) : EMPTY)}
${time('Occupied slots over time', '', 'buffers', hasBuffers)}
${time('Counters over time', 'per cycle', 'counters', hasCounters)}
${panel('Checked against the counters of the core', '', checkTable(core), 'wide')}
</div></section>\n`;
}

function about({
  clock,
  periodPs,
  isa,
  fromCycle,
  toCycle,
  clockCycles,
  cyclesCounter,
  cycles,
}: CoreReport): string {
  const range = clockCycles > 0 ? `cycles ${grouped(fromCycle)} to ${grouped(toCycle - 1n)}` : 'no cycles';
  const basis =
    cyclesCounter === null
      ? ''
      : `; rates refer to the ${grouped(cycles)} cycles of the core's counter “${cyclesCounter}”`;
  return `${range} of ${clock ?? 'its clock'} (${periodPs} ps)${isa === null ? '' : `, ${isa}`}${basis}`;
}

function tiles({ rows }: FigureTable): Markup {
  const tile = ({ name, figures, remark }: FigureRow): Markup => {
    const values = figures.map((figure) => figureText(figure, grouped)).join(' ');
    return html`<div class="tile"><dt>${name}</dt><dd>${values}</dd><p>${remarkText(remark, grouped)}</p></div>`;
  };
  return html`<dl class="tiles">${rows.map(tile)}</dl>`;
}

/** More columns than this take the width of the page. */
const NARROW = 4;

function figurePanel(table: FigureTable, { exactUpTo, relativeError }: PercentileError): Markup {
  const { key, title, note = [], heads, rows } = table;
  const hasBars = rows.some(({ bar }) => bar !== undefined);
  const names = rows[0]?.figures.map(({ name }) => name) ?? [];
  const columns = [
    text(heads.name),
    ...numbers(...names),
    ...(hasBars ? [text('')] : []),
    ...[heads.remark, heads.line].filter((name) => name !== undefined).map(text),
  ];
  const cells = ({ name, figures, bar, remark, line = [] }: FigureRow): (string | Markup)[] => [
    name,
    ...figures.map((figure) => figureText(figure, grouped)),
    ...(hasBars ? [bar === undefined ? EMPTY : barCell(bar, table.tone)] : []),
    ...(heads.remark === undefined ? [] : [remarkText(remark, grouped)]),
    ...(heads.line === undefined ? [] : [sparkline(line)]),
  ];
  const percentiles = `percentiles up to ${grouped(exactUpTo)} are exact, above at most ${percent(relativeError)} too large`;
  const remarks = [key === 'stages' ? percentiles : '', remarkText(note, grouped)].filter(Boolean);
  const width = names.length > NARROW ? 'wide' : '';
  return panel(title, remarks.join('; '), tableOf(columns, rows.map(cells)), width);
}

const SPARK_WIDTH = 160;
const SPARK_HEIGHT = 22;

/** A line of values from 0 to the greatest. */
function sparkline(values: readonly number[]): Markup {
  if (values.length < 2) return EMPTY;
  const least = minOf(values, 0);
  const span = maxOf(values, 0) - least || 1;
  const points = values.map((value, index) => {
    const x = (index / (values.length - 1)) * SPARK_WIDTH;
    const y = SPARK_HEIGHT - 1 - ((value - least) / span) * (SPARK_HEIGHT - 2);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return html`<svg class="spark" viewBox="0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}" width="${SPARK_WIDTH}" height="${SPARK_HEIGHT}" aria-hidden="true"><polyline points="${points.join(' ')}"/></svg>`;
}

function checkTable({ checks }: CoreReport): Markup {
  const columns = [text(''), ...numbers('counted here'), text('counter'), ...numbers('says'), text('')];
  const rows = checks.map(({ what, counted, counter, value }) => [
    what,
    grouped(counted),
    counter,
    grouped(value),
    BigInt(counted) === value
      ? html`<span class="ok">equal</span>`
      : html`<span class="off">${grouped(BigInt(counted) - value)}</span>`,
  ]);
  return tableOf(columns, rows);
}
