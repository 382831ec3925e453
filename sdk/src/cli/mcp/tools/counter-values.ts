/** Tool counter_values: counters over a range. */
import * as z from 'zod';
import { findCore } from '../../../semantics/cpu/index.js';
import type { CounterReport } from '../../../semantics/storages/counter-work.js';
import { counters } from '../../../semantics/storages/counters.js';
import { ending, offsetOf, page } from './answer.js';
import { boundsOf, core, cursor, file, limit, points, range } from './arguments.js';
import { defineTool } from './tool.js';

export const counterValuesTool = defineTool({
  name: 'counter_values',
  title: 'Values of counters',
  description:
    'What counters (dense storages with one u64) held at both ends of a range, how much they changed, and the change per cycle; with points also over time. Default: all counters, the whole trace.',
  input: {
    file,
    counters: z.array(z.string()).optional().describe('Names of counters; default: all'),
    core: core.describe('Only the counters of this core'),
    ...range,
    points: points(200),
    per_cycle: z.boolean().default(false).describe('Also the least and greatest change in one cycle'),
    limit: limit(50, 500),
    cursor,
  },
  run(args, { files, progress }) {
    return files.use(args.file, async (trace, { name }) => {
      const cpu = args.core === undefined ? undefined : findCore(trace, args.core);
      const all = await counters(trace, {
        ...boundsOf(args, trace, cpu?.clock?.name),
        core: cpu,
        counters: args.counters,
        points: args.points,
        perCycle: args.per_cycle,
        progress,
      });
      const { shown, next } = page(all.map(json), offsetOf(args.cursor), args.limit);
      return { file: name, count: all.length, counters: shown, ...ending(next) };
    });
  },
});

function json(report: CounterReport): object {
  const { name, fromPs, toPs, cycles, startValue, endValue, delta, rate, perCycle, series } = report;
  return {
    counter: name,
    fromPs: fromPs,
    toPs: toPs,
    cycles,
    start: startValue,
    end: endValue,
    change: delta,
    perCycle: rate,
    ...(perCycle ? { leastInACycle: perCycle.min, greatestInACycle: perCycle.max } : {}),
    ...(series ? { series: series.map((point) => ({ fromPs: point.fromPs, change: point.delta })) } : {}),
  };
}
