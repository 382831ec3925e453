/** The tables of the page, one section per core. */
import { maxOf, minOf } from '../../base/arrays.js';
import type { CoreReport, PercentileError, RatioReport } from '../../semantics/cpu/analysis/report.js';
import { decimal, grouped, percent, ratio, whole } from '../common/number-format.js';
import { barCell, type Column, EMPTY, html, type Markup, panel, tableOf } from './markup.js';
import { countedShare, sideBySide } from './summary.js';

const text = (name: string): Column => ({ name, isText: true });
const numbers = (...names: readonly string[]): Column[] => names.map((name) => ({ name }));
const greatest = (values: readonly number[]): number => maxOf(values, Number.MIN_VALUE);

/** Where a script draws: `kind` says what, `core` of which core. */
function plot(kind: string, core: number): Markup {
  return html`<div class="plot" data-plot="${kind}" data-core="${core}"></div>`;
}

export function summarySection(cores: readonly CoreReport[]): Markup {
  if (cores.length < 2) return EMPTY;
  const columns = [text(''), ...cores.map(({ core }) => ({ name: core }))];
  const rows = sideBySide(cores, grouped).map(({ name, values }) => [name, ...values]);
  return html`<section class="core" id="summary"><h2>Side by side</h2><div class="grid">
${panel('Cores', '', tableOf(columns, rows))}
${panel('IPC over time', '', html`<div class="plot" data-plot="cores"></div>`)}
</div></section>\n`;
}

export function coreSection(core: CoreReport, index: number, error: PercentileError): Markup {
  const hasTime = (core.series?.ipc.length ?? 0) > 1;
  const time = (kind: string): Markup => (hasTime ? plot(kind, index) : EMPTY);
  return html`<section class="core" id="core${index}"><h2>${core.core}</h2>
<p class="about">${about(core)}</p>
${tiles(core)}
<div class="grid">
${panel('IPC over time', '', time('ipc'), 'wide')}
${panel('Stalled cycles over time', 'share of the cycles, by reason', core.stalls.reasons.length > 0 ? time('stalls') : EMPTY, 'wide')}
${panel('Top-down', topDownRemark(core), topDownTable(core))}
${panel('Stalls', 'an episode is a run of stalled cycles', stallTable(core))}
${panel('Flushes', '', flushTable(core))}
${panel('Flushes over time', 'per 1000 cycles', core.flushes.flushes > 0 ? time('flushes') : EMPTY)}
${panel('Instructions retired per cycle', '', widths(core, index))}
${panel('Stage latency', latencyRemark(core, error), stageTable(core), 'wide')}
${panel('Distribution of the latency', 'visits by cycles; values that do not occur are left out', core.stages.some(({ latency }) => latency.count > 0) ? plot('latency', index) : EMPTY)}
${panel('Distribution of the occupancy', 'cycles by occupied slots', core.buffers.length > 0 ? plot('occupancy', index) : EMPTY)}
${panel('Buffers', 'occupied slots at the end of each cycle', bufferTable(core), 'wide')}
${panel('Occupied slots over time', '', core.buffers.length > 0 ? time('buffers') : EMPTY, 'wide')}
${panel('Retired instructions', 'by class of the machine code', mixTable(core))}
${panel('Branches and caches', '', ratioTable(core))}
${panel('Counters over time', 'per cycle', core.counters.length > 0 ? time('counters') : EMPTY, 'wide')}
${panel('Counters', '', counterTable(core), 'wide')}
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

function tiles(core: CoreReport): Markup {
  const { instructions, flushes, stalls, lifetime } = core;
  const tile = (name: string, value: string, remark: string): Markup =>
    html`<div class="tile"><dt>${name}</dt><dd>${value}</dd><p>${remark}</p></div>`;
  const branch = core.ratios.find(({ name }) => name === 'branch misprediction');
  return html`<dl class="tiles">${[
    tile('IPC', ratio(instructions.ipc), `CPI ${ratio(instructions.cpi)}`),
    tile('Retired', grouped(instructions.retired), `in ${grouped(core.cycles)} cycles`),
    tile('Stalled', percent(stalls.share), `${grouped(stalls.cycles)} cycles`),
    tile(
      'Flushes',
      decimal(flushes.perKiloInstructions),
      `per 1000 instructions; ${grouped(flushes.flushes)}`,
    ),
    tile('Squashed', percent(instructions.squashedShare), `${grouped(instructions.squashed)} instructions`),
    ...(branch ? [tile('Mispredicted', percent(branch.ratio), ratioSource(branch))] : []),
    tile(
      'Fetch to retirement',
      decimal(lifetime.mean),
      `cycles; p99 ${whole(lifetime.p99)}, max ${grouped(lifetime.max)}`,
    ),
  ]}</dl>`;
}

function topDownRemark({ topDown }: CoreReport): string {
  return topDown
    ? `what became of the ${topDown.width} slots of each cycle; together ${percent(countedShare(topDown))}`
    : '';
}

function topDownTable({ topDown }: CoreReport): Markup {
  const rows = (topDown?.classes ?? []).map(({ name, slots, share }) => [
    name,
    grouped(slots),
    percent(share),
    barCell(share ?? 0, 'good'),
  ]);
  return tableOf([text('class'), ...numbers('slots', 'share'), text('')], rows);
}

function stallTable({ stalls: { reasons } }: CoreReport): Markup {
  const most = greatest(reasons.map(({ cycles }) => cycles));
  const columns = [
    text('reason'),
    ...numbers('cycles', 'of cycles'),
    text(''),
    ...numbers('episodes', 'mean', 'longest'),
  ];
  const rows = reasons.map(({ reason, cycles, share, episodes, longest }) => [
    reason,
    grouped(cycles),
    percent(share),
    barCell(cycles / most, 'stall'),
    grouped(episodes),
    decimal(cycles / episodes),
    grouped(longest),
  ]);
  return tableOf(columns, rows);
}

function flushTable({ flushes: { reasons } }: CoreReport): Markup {
  const most = greatest(reasons.map(({ flushes }) => flushes));
  const columns = [
    text('reason'),
    ...numbers('flushes', 'share'),
    text(''),
    ...numbers('squashed', 'per 1000 instr.'),
  ];
  const rows = reasons.map(({ reason, flushes, squashed, share, perKiloInstructions }) => [
    reason,
    grouped(flushes),
    percent(share),
    barCell(flushes / most, 'flush'),
    grouped(squashed),
    decimal(perKiloInstructions),
  ]);
  return tableOf(columns, rows);
}

function widths({ instructions: { retiredPerCycle }, clockCycles }: CoreReport, index: number): Markup {
  // Of a core that retires one at a time a plot shows nothing.
  if (retiredPerCycle.length > 8) return plot('widths', index);
  if (retiredPerCycle.length < 2) return EMPTY;
  const rows = retiredPerCycle.map((cycles, width) => [
    String(width),
    grouped(cycles),
    percent(cycles / clockCycles),
    barCell(cycles / clockCycles, 'good'),
  ]);
  return tableOf([text('retired'), ...numbers('cycles', 'of cycles'), text('')], rows);
}

function latencyRemark({ stages }: CoreReport, { exactUpTo, relativeError }: PercentileError): string {
  const unknown = stages.reduce((sum, stage) => sum + stage.unknown, 0);
  const left = 'cycles from entering a stage to leaving it';
  const error = `percentiles up to ${grouped(exactUpTo)} are exact, above at most ${percent(relativeError)} too large`;
  return `${left}; ${error}${unknown > 0 ? `; ${grouped(unknown)} visits began before what was read and are left out` : ''}`;
}

function stageTable({ stages, lifetime }: CoreReport): Markup {
  const seen = stages.filter(({ latency, squashed, unknown }) => latency.count + squashed + unknown > 0);
  const longest = greatest(seen.map(({ latency }) => latency.mean ?? 0));
  const columns = [
    text('stage'),
    ...numbers('visits', 'mean'),
    text(''),
    ...numbers('median', 'p90', 'p99', 'max', 'squashed in it'),
  ];
  const rows = seen.map(({ stage, latency, squashed }) => [
    stage,
    grouped(latency.count),
    decimal(latency.mean),
    barCell((latency.mean ?? 0) / longest, 'latency'),
    grouped(latency.median),
    grouped(latency.p90),
    grouped(latency.p99),
    grouped(latency.max),
    grouped(squashed),
  ]);
  if (rows.length > 0 && lifetime.count > 0) {
    const { count, mean, median, p90, p99, max } = lifetime;
    rows.push([
      'fetch to retirement',
      grouped(count),
      decimal(mean),
      EMPTY,
      ...[median, p90, p99, max].map(grouped),
      '',
    ]);
  }
  return tableOf(columns, rows);
}

function bufferTable({ buffers }: CoreReport): Markup {
  const columns = [
    text('buffer'),
    ...numbers('slots', 'mean'),
    text(''),
    ...numbers('median', 'p99', 'max', 'full', 'empty'),
  ];
  const rows = buffers.map(({ buffer, slots, mean, median, p99, max, fullShare, emptyShare }) => [
    buffer,
    grouped(slots),
    decimal(mean),
    barCell((mean ?? 0) / slots, 'buffer'),
    grouped(median),
    grouped(p99),
    grouped(max),
    percent(fullShare),
    percent(emptyShare),
  ]);
  return tableOf(columns, rows);
}

function mixTable({ mix }: CoreReport): Markup {
  const most = greatest(mix.map(({ share }) => share));
  const columns = [text('class'), ...numbers('instructions', 'share'), text('')];
  const rows = mix.map(({ kind, count, share }) => [
    kind,
    grouped(count),
    percent(share),
    barCell(share / most, 'good'),
  ]);
  return tableOf(columns, rows);
}

function ratioTable({ ratios }: CoreReport): Markup {
  const columns = [text(''), ...numbers('rate'), text(''), ...numbers('per 1000 instr.'), text('from')];
  const rows = ratios.map((one) => [
    one.name,
    percent(one.ratio),
    one.ratio === null ? EMPTY : barCell(one.ratio, one.name === 'branches taken' ? 'good' : 'flush'),
    decimal(one.perKiloInstructions),
    ratioSource(one),
  ]);
  return tableOf(columns, rows);
}

function ratioSource({ numerator, count, denominator, of }: RatioReport): string {
  const above = `${numerator} ${grouped(count)}`;
  return denominator === null ? above : `${above} / ${denominator} ${grouped(of)}`;
}

function counterTable({ counters, series }: CoreReport): Markup {
  const columns = [
    text('counter'),
    ...numbers('in range'),
    text('over time'),
    ...numbers('per cycle', 'per 1000 instr.', 'at the end'),
  ];
  const rows = counters.map(({ counter, delta, perCycle, perKiloInstructions, end }, index) => {
    const rates = series?.counters[index]?.delta.map((value, at) => value / series.cycles[at]) ?? [];
    return [
      counter,
      grouped(delta),
      sparkline(rates),
      perCycle === null ? '-' : perCycle.toFixed(4),
      decimal(perKiloInstructions),
      grouped(end),
    ];
  });
  return tableOf(columns, rows);
}

const SPARK_WIDTH = 160;
const SPARK_HEIGHT = 22;

/** A line of values from 0 to the greatest. */
function sparkline(values: readonly number[]): Markup {
  if (values.length < 2) return EMPTY;
  const least = minOf(values, 0);
  const span = greatest([maxOf(values, 0) - least]);
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
