/** Branch and cache figures from counters, by the names that designs give them. */
import { CPU } from '../../../protocols/index.js';
import type {
  CounterCheck,
  CounterFigures,
  FlushReport,
  MixEntry,
  RatioReport,
  StallReport,
} from './report.js';

/** Names in order of preference. */
const named = (counter: keyof typeof CPU.counters): readonly string[] => [counter, ...CPU.counters[counter]];

export const CYCLE_COUNTERS = named('cycles');
export const RETIRED_COUNTERS = named('committed_insns');
const FETCHED_COUNTERS = named('fetched_insns');
const SQUASHED_COUNTERS = named('squashed_insns');
const FLUSH_COUNTERS = named('flushes');
const MISPREDICT_COUNTERS = named('mispredicts');
const BRANCH_COUNTERS = named('bp_lookups');
const TAKEN_COUNTERS = named('branches_taken');
const ACCESS_SUFFIXES = ['accesses', 'access', 'references', 'refs', 'lookups', 'requests', 'reqs'];
const MISPREDICT_REASON = 'mispredict';

type Counters = readonly CounterFigures[];

export function counterNamed(counters: Counters, names: readonly string[]): CounterFigures | undefined {
  for (const name of names) {
    const found = counters.find(({ counter }) => counter === name);
    if (found) return found;
  }
  return undefined;
}

/** @param retired the instructions that rates refer to */
export function ratiosOf(
  counters: Counters,
  mix: readonly MixEntry[],
  flushes: FlushReport,
  retired: number | null,
): RatioReport[] {
  const figures = new Figures(retired);
  const branches = figureOf(counters, BRANCH_COUNTERS) ?? branchesOf(mix);
  const missed = figureOf(counters, MISPREDICT_COUNTERS) ?? mispredictsOf(flushes);
  const taken = figureOf(counters, TAKEN_COUNTERS);
  if (missed) figures.add('branch misprediction', missed, branches);
  if (taken) figures.add('branches taken', taken, branches);
  for (const counter of counters) {
    const match = /^(.+)_miss(?:es)?$/.exec(counter.counter);
    const [, unit = ''] = match ?? [];
    // Counters of cycles stalled by misses count no misses.
    if (!match || /stall/.test(unit) || MISPREDICT_COUNTERS.includes(counter.counter)) continue;
    figures.add(`${unit} miss`, asFigure(counter), accessesOf(counters, unit, counter));
  }
  return figures.list;
}

interface Figure {
  readonly name: string;
  readonly value: number;
}

class Figures {
  readonly list: RatioReport[] = [];

  constructor(private readonly retired: number | null) {}

  add(name: string, numerator: Figure, denominator: Figure | undefined): void {
    const { retired } = this;
    this.list.push({
      name,
      ratio: denominator && denominator.value > 0 ? numerator.value / denominator.value : null,
      numerator: numerator.name,
      denominator: denominator?.name ?? null,
      count: numerator.value,
      of: denominator?.value ?? null,
      perKiloInstructions: retired ? (numerator.value * 1000) / retired : null,
    });
  }
}

function figureOf(counters: Counters, names: readonly string[]): Figure | undefined {
  const counter = counterNamed(counters, names);
  return counter && asFigure(counter);
}

function asFigure({ counter, delta }: CounterFigures): Figure {
  return { name: counter, value: Number(delta) };
}

function branchesOf(mix: readonly MixEntry[]): Figure | undefined {
  const branches = mix.find(({ kind }) => kind === 'branch');
  return branches && { name: 'retired branches', value: branches.count };
}

function mispredictsOf({ reasons }: FlushReport): Figure | undefined {
  const reason = reasons.find((candidate) => candidate.reason === MISPREDICT_REASON);
  return reason && { name: `flushes: ${MISPREDICT_REASON}`, value: reason.flushes };
}

/** `l1d_accesses`, or `l1d_hits` and the misses together. */
function accessesOf(counters: Counters, unit: string, misses: CounterFigures): Figure | undefined {
  const accesses = figureOf(
    counters,
    ACCESS_SUFFIXES.map((suffix) => `${unit}_${suffix}`),
  );
  if (accesses) return accesses;
  const hits = counterNamed(counters, [`${unit}_hits`, `${unit}_hit`]);
  return (
    hits && { name: `${hits.counter} + ${misses.counter}`, value: Number(hits.delta) + Number(misses.delta) }
  );
}

/** What was counted here, next to the counters that should say the same. */
export function checksOf(
  counters: Counters,
  counted: {
    readonly cycles: number;
    readonly retired: number | null;
    readonly fetched: number | null;
    readonly squashed: number;
    readonly flushes: FlushReport | null;
    readonly stalls: StallReport | null;
  },
): CounterCheck[] {
  const checks: CounterCheck[] = [];
  const check = (what: string, count: number | null | undefined, names: readonly string[]): void => {
    const counter = counterNamed(counters, names);
    if (counter && count !== null && count !== undefined) {
      checks.push({ what, counted: count, counter: counter.counter, value: counter.delta });
    }
  };
  const { flushes, stalls } = counted;
  check('cycles', counted.cycles, CYCLE_COUNTERS);
  check('instructions fetched', counted.fetched, FETCHED_COUNTERS);
  check('instructions retired', counted.retired, RETIRED_COUNTERS);
  if (flushes) {
    check('instructions squashed', counted.squashed, SQUASHED_COUNTERS);
    check('flushes', flushes.flushes, FLUSH_COUNTERS);
    const isMispredict = ({ reason }: { reason: string }) => reason === MISPREDICT_REASON;
    check(
      'flushes: mispredict',
      flushes.reasons.find(isMispredict)?.flushes,
      MISPREDICT_COUNTERS.slice(0, 2),
    );
  }
  for (const { reason, cycles } of stalls?.reasons ?? []) {
    const names = [`stalls_${reason}`, `stall_${reason}`, `${reason}_stalls`, `stall_cycles_${reason}`];
    check(`stall cycles: ${reason}`, cycles, names);
  }
  return checks;
}
