/** Tool buffer_occupancy: how full buffers were over a range. */
import * as z from 'zod';
import { findCore } from '../../../semantics/cpu/index.js';
import { type OccupancyReport, occupancy } from '../../../semantics/storages/occupancy.js';
import { ending, offsetOf, page } from './answer.js';
import { boundsOf, core, cursor, file, limit, points, range } from './arguments.js';
import { defineTool } from './tool.js';

export const bufferOccupancyTool = defineTool({
  name: 'buffer_occupancy',
  title: 'Occupancy of buffers',
  description:
    'How many slots of buffers (ROB, queues) were occupied over a range, weighted with time: mean, least, greatest, share of time full and empty, histogram; with points also over time. Reads the whole range. Default: all buffers, the whole trace.',
  input: {
    file,
    buffers: z
      .array(z.string())
      .optional()
      .describe('Names of buffers or sparse storages; default: all buffers'),
    core: core.describe('Only the buffers of this core'),
    ...range,
    points: points(200),
    limit: limit(20, 200),
    cursor,
  },
  run(args, { files, progress }) {
    return files.use(args.file, async (trace, { name }) => {
      const cpu = args.core === undefined ? undefined : findCore(trace, args.core);
      const all = await occupancy(trace, {
        ...boundsOf(args, trace, cpu?.clock?.name),
        core: cpu,
        buffers: args.buffers,
        points: args.points,
        progress,
      });
      const { shown, next } = page(all.map(json), offsetOf(args.cursor), args.limit);
      return { file: name, count: all.length, buffers: shown, ...ending(next) };
    });
  },
});

/** Classes of a histogram: a buffer may have 65,535 slots. */
const MAX_CLASSES = 32;

function json(report: OccupancyReport): object {
  const { name, slots, fromPs, toPs, mean, min, max, last, histogram, series } = report;
  const total = Number(toPs - fromPs);
  const share = (from: number, to: number): number => {
    const ps = histogram.slice(from, to).reduce((sum, one) => sum + one, 0n);
    return total > 0 ? Number(ps) / total : 0;
  };
  const width = Math.ceil((slots + 1) / MAX_CLASSES);
  const classes = Array.from({ length: Math.ceil((slots + 1) / width) }, (_, i) => i * width)
    .map((from) => ({ occupied: classText(from, width, slots), share: share(from, from + width) }))
    .filter((one) => one.share > 0);
  return {
    buffer: name,
    slots,
    fromPs: fromPs,
    toPs: toPs,
    mean,
    least: min,
    greatest: max,
    last: last,
    fullShare: share(slots, slots + 1),
    emptyShare: share(0, 1),
    histogram: classes,
    ...(series
      ? {
          series: series.map((point) => ({
            fromPs: point.fromPs,
            mean: point.mean,
            least: point.min,
            greatest: point.max,
          })),
        }
      : {}),
  };
}

function classText(from: number, width: number, slots: number): string {
  return width === 1 ? String(from) : `${from}-${Math.min(from + width - 1, slots)}`;
}
