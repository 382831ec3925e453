// @ts-check
/**
 * Two runs, perhaps on two machines. Each value is compared as a ratio to its limit, which was measured in the same run, or as a
 * value that no machine changes (bytes per item, ratios). Times without a limit are left out.
 */
import { format } from './table.mjs';

/** @typedef {import('./results.mjs').Results} Results */
/** @typedef {import('./table.mjs').Row} Row */
/** @typedef {{low: number, middle: number, high: number}} Ratio */
/** @typedef {{benchmark: string, name: string, old: Ratio, new: Ratio, change: number, verdict: 'same' | 'better' | 'worse'}} Comparison */

/** Units in which a value says something without a limit. */
const MACHINE_FREE = new Set(['B/item', 'B/record', '×']);
/** A smaller move is nobody's concern, even when the runs of both are close together. */
const NOISE = 0.05;
/** Runs nearer together than this are lucky: on another day they are farther apart. */
const LEAST_SPREAD = 0.03;

/**
 * @param {Results} before
 * @param {Results} after
 * @returns {Comparison[]} of the rows both have
 */
export function compareResults(before, after) {
  const sameTask =
    before.options.workload === after.options.workload &&
    before.options.compression === after.options.compression;
  if (!sameTask) throw new Error('the two runs are of different workloads or compressions');
  return Object.entries(before.results).flatMap(([benchmark, rows]) =>
    rows.flatMap((row) => {
      const other = after.results[benchmark]?.find(({ name }) => name === row.name);
      const [was, is] = [ratioOf(row), other ? ratioOf(other) : null];
      return was && is
        ? [{ benchmark, name: row.name, old: was, new: is, ...judge(was, is, isMoreBetter(row)) }]
        : [];
    }),
  );
}

/** @param {Row} row @returns {Ratio | null} null: it says nothing about another machine */
function ratioOf({ value, min = value, max = value, bound, unit }) {
  const by = bound ?? (MACHINE_FREE.has(unit) ? 1 : 0);
  if (!(by > 0) || !(value > 0)) return null;
  return {
    low: Math.min(min, value * (1 - LEAST_SPREAD)) / by,
    middle: value / by,
    high: Math.max(max, value * (1 + LEAST_SPREAD)) / by,
  };
}

/** @param {Row} row */
const isMoreBetter = ({ unit, target }) => (target ? 'atLeast' in target : unit.endsWith('/s'));

/**
 * @param {Ratio} was
 * @param {Ratio} is
 * @param {boolean} moreIsBetter
 * @returns {Pick<Comparison, 'change' | 'verdict'>}
 */
function judge(was, is, moreIsBetter) {
  const change = is.middle / was.middle - 1;
  const apart = is.low > was.high || is.high < was.low;
  if (!apart || Math.abs(change) < NOISE) return { change, verdict: 'same' };
  return { change, verdict: change > 0 === moreIsBetter ? 'better' : 'worse' };
}

/**
 * @param {readonly Comparison[]} comparisons
 * @returns {number} exit status: 1 when anything got worse
 */
export function printComparison(comparisons) {
  const moved = comparisons.filter(({ verdict }) => verdict !== 'same');
  for (const { benchmark, name, old, new: now, change, verdict } of moved) {
    const percent = `${change > 0 ? '+' : ''}${(change * 100).toFixed(0)} %`;
    console.log(
      `${verdict.padEnd(6)}  ${percent.padStart(6)}  ${benchmark}: ${name}: ${shown(old)} -> ${shown(now)}`,
    );
  }
  const worse = moved.filter(({ verdict }) => verdict === 'worse').length;
  console.log(
    `${comparisons.length} ratios compared: ${worse} worse, ${moved.length - worse} better, the others within noise`,
  );
  return worse > 0 ? 1 : 0;
}

/** @param {Ratio} ratio */
const shown = ({ low, middle, high }) => `${format(middle)} (${format(low)}-${format(high)})`;
