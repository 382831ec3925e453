/** Top-down slots: what became of each slot that the core could have used, from its counters `slots_NAME`. */
import { CYCLE_COUNTERS, counterNamed } from './ratios.js';
import type { CounterFigures, TopDownReport } from './report.js';

const PREFIX = 'slots_';

/**
 * Null for a core without at least two such counters. The core's width is how many slots its counters had per cycle by the end of the
 * range, rounded: an instruction that is in flight is not counted yet.
 * @param cycles of the range
 * @param untilCycle cycles from the start of the trace to the end of the range
 */
export function topDownOf(
  counters: readonly CounterFigures[],
  cycles: number,
  untilCycle: bigint,
): TopDownReport | null {
  const classes = counters.filter(({ counter }) => counter.startsWith(PREFIX));
  if (classes.length < 2) return null;
  const ended = counterNamed(counters, CYCLE_COUNTERS)?.end ?? untilCycle;
  const width = ended > 0n ? Math.round(Number(sumOf(classes, 'end')) / Number(ended)) : 0;
  const slots = width * cycles;
  return {
    width,
    slots,
    counted: Number(sumOf(classes, 'delta')),
    classes: classes.map(({ counter, delta }) => ({
      name: counter.slice(PREFIX.length),
      slots: Number(delta),
      share: slots > 0 ? Number(delta) / slots : null,
    })),
  };
}

function sumOf(counters: readonly CounterFigures[], value: 'end' | 'delta'): bigint {
  return counters.reduce((sum, counter) => sum + counter[value], 0n);
}
