/** Tool analyze_performance: IPC, flushes, stalls, latencies of cores over a range. */
import * as z from 'zod';
import { analyzePerformance } from '../../../semantics/cpu/analysis/analyze.js';
import type { CoreReport, Distribution, SeriesReport } from '../../../semantics/cpu/analysis/report.js';
import { findCore } from '../../../semantics/cpu/index.js';
import { ending, offsetOf, page, shortLists } from './answer.js';
import { boundsOf, cursor, file, limit, range } from './arguments.js';
import { defineTool } from './tool.js';

export const analyzePerformanceTool = defineTool({
  name: 'analyze_performance',
  title: 'Performance of cores',
  description:
    'How cores performed over a range: IPC, flushes and stalls by reason, latency of each stage (mean, median, p90, p99, max), instruction lifetimes, occupancy of buffers, counters, instruction mix, miss ratios; with points also IPC, flushes and stalls over time. Reads the whole range: a long trace takes a while, so give a range when one will do.',
  input: {
    file,
    cores: z.array(z.string()).optional().describe('Names of cores; default: all'),
    ...range,
    points: z.number().int().min(0).max(50).default(0).describe('Intervals of the series over time; 0: none'),
    limit: limit(4, 64).describe('Most cores of the answer'),
    cursor,
  },
  run(args, { files, signal, progress }) {
    return files.use(args.file, async (trace, { name }) => {
      const clock = findCore(trace, args.cores?.[0]).clock?.name;
      const report = await analyzePerformance(trace, {
        ...boundsOf(args, trace, clock),
        cores: args.cores,
        points: args.points,
        onProgress: progress,
        signal,
      });
      const { shown, next } = page(report.cores.map(coreJson), offsetOf(args.cursor), args.limit);
      return { file: name, fromPs: report.fromPs, toPs: report.toPs, cores: shown, ...ending(next) };
    });
  },
});

/** The report without its histograms, which a figure shows better than text. */
function coreJson({ stages, lifetime, buffers, series, ...core }: CoreReport): object {
  return shortLists({
    ...core,
    lifetime: figures(lifetime),
    stages: stages.map(({ latency, ...stage }) => ({ ...stage, latency: figures(latency) })),
    buffers: buffers.map(({ histogram: _, ...buffer }) => buffer),
    ...(series ? { series: seriesJson(series) } : {}),
  });
}

function seriesJson({ intervalCycles, start, ipc, flushes, squashed, stalls }: SeriesReport): object {
  return { intervalCycles, start, ipc, flushes, squashed, stalls };
}

function figures({ classes: _, ...distribution }: Distribution): object {
  return distribution;
}
