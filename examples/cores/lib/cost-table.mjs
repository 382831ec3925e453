/** What a trace costs on each core, as one table, and which goals are met. */

/** From here on a simulation is slow enough that the ratios of time are goals. */
const SLOW_NS = 500;
const GOALS = { retirement: 1.05, 'full pipeline': 1.15 };
const LESS_TIME = 10;
const SMALLER = 5;

/** @param rows those of the cores that were measured */
export function costTable(rows) {
  const measured = rows.filter(({ cost }) => cost);
  if (measured.length === 0) return '';
  const head = [
    'core',
    'what is written',
    'ns/cycle',
    'layouts',
    'time',
    'added',
    'daemon',
    'bytes/cycle',
    'with zstd',
  ];
  const lines = measured.flatMap(({ core, cost }) =>
    Object.entries(cost).map(([name, result], i) => [
      i === 0 ? core : '',
      name,
      result.nsPerCycle.toFixed(0),
      result.spread == null ? '' : `±${(100 * result.spread).toFixed(1)}%`,
      `${result.time.toFixed(2)}x`,
      result.added.toFixed(0),
      result.daemonNs == null ? '' : result.daemonNs.toFixed(0),
      result.bytesPerCycle.toFixed(2),
      result.packed == null ? '' : result.packed.toFixed(2),
    ]),
  );
  const goals = measured.flatMap(goalsOf);
  return `\n${columns([head, ...lines], 2)}\nGoals\n${columns(goals, 3)}`;
}

/** One line for each goal: core, what, found, and whether it is met. */
export function goalsOf({ core, cost }) {
  const lines = [];
  const isSlow = cost.untraced.nsPerCycle >= SLOW_NS;
  for (const [name, limit] of Object.entries(GOALS)) {
    if (!cost[name]) continue;
    const found = `${cost[name].time.toFixed(2)}x`;
    const met = cost[name].time <= limit;
    const verdict = isSlow ? verdictOf(met) : `no goal below ${SLOW_NS} ns/cycle`;
    lines.push([core, `${name}: at most ${limit.toFixed(2)}x the time`, found, verdict]);
  }
  const own = cost['own tracer'];
  if (own) {
    const ratio = own.added / cost.retirement.added;
    const what = `retirement: ${LESS_TIME}x less added time than the own tracer`;
    lines.push([core, what, `${ratio.toFixed(1)}x`, verdictOf(ratio >= LESS_TIME)]);
  }
  const text = own ?? cost['log of the pins'];
  const ratio = text.bytes / cost['retirement --small'].bytes;
  const what = `retirement --small: ${SMALLER}x smaller than the ${own ? 'own text' : 'log of the pins'}`;
  lines.push([core, what, `${ratio.toFixed(1)}x`, verdictOf(ratio >= SMALLER)]);
  return lines;
}

const verdictOf = (met) => (met ? 'met' : 'missed');

/** The first `left` columns are aligned left, the others right. */
export function columns(lines, left = 1) {
  const widths = lines[0].map((_, i) => Math.max(...lines.map((line) => line[i].length)));
  const pad = (cell, i) => (i < left ? cell.padEnd(widths[i]) : cell.padStart(widths[i]));
  return lines.map((line) => `${line.map(pad).join('  ').trimEnd()}\n`).join('');
}
