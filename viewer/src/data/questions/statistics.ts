/** How the core performed in a range: as `uscope stats --cycles` counts it. */
import * as cpu from 'uscope/cpu';
import type { Question } from './question.js';

interface StatisticsArgs {
  /** Cycles, `to` exclusive; null: the whole run. */
  readonly range: { readonly from: number; readonly to: number } | null;
}

/** null: there is no core, or it has no cycles. */
export type StatisticsAnswer = cpu.CoreReport | null;

/** Of what is counted now, 0 to 1. */
let share = 0;

export const statistics: Question<StatisticsArgs, StatisticsAnswer> = async ({ range }, context, signal) => {
  const { trace, core } = context;
  if (!core || core.periodPs === 0n) return null;
  share = 0;
  const { cores } = await cpu.analyzePerformance(trace, {
    cores: [core.name],
    points: 0,
    signal,
    onProgress: (done) => {
      share = done;
    },
    ...(range ? { from: range.from, to: range.to, unit: 'cycles' as const } : {}),
  });
  return cores[0] ?? null;
};

/** How far the statistics are that this worker counts. */
export const statisticsProgress: Question<null, number> = async () => share;
