/** `uscope stats`: how a core performed over a range. */
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import { analyzePerformance, type PerformanceReport } from '../../protocols/cpu/analysis/index.js';
import { findCore } from '../../protocols/cpu/index.js';
import type { Trace } from '../../reader/index.js';
import { io, printJson } from '../io.js';
import { withProgress } from '../progress-bar.js';
import { type AskedRange, addRangeOptions, parseRange, type RangeArguments, rangeInTime } from '../ranges.js';
import { reportPage } from '../stats/html.js';
import { printReport } from '../stats/text.js';
import { shownName, withTrace } from '../trace-file.js';

interface StatsOptions extends RangeArguments {
  readonly core: readonly string[];
  readonly points?: string;
  readonly html?: string;
  readonly color?: boolean;
  readonly json?: boolean;
}

const DEFAULT_POINTS = 60;
/** A page has room for more. */
const PAGE_POINTS = 400;
const MAX_POINTS = 10_000;
const STDOUT = '-';

const append = (value: string, all: readonly string[]): string[] => [...all, value];

export function register(program: Command): void {
  const command = program
    .command('stats')
    .summary('how a core performed: IPC, stalls, latencies, buffers')
    .description(
      'Analyses a range of a trace, by default all of it: IPC, flushes and stalls by reason, latency of each stage, occupancy of the buffers, instruction mix and counters, for each core.',
    )
    .argument('<file>', 'trace file')
    .option('--core <name>', 'only this core (may be repeated)', append, []);
  addRangeOptions(command)
    .option('--points <n>', 'intervals of the figures over time')
    .option('--html <file>', 'the report as a web page in one file; - for stdout')
    .option('--color', 'colours even where stdout is no terminal')
    .option('--no-color', 'no colours')
    .option('--json', 'one JSON document')
    .action((file: string, options: StatsOptions) => {
      const asked = parseRange(options);
      const points = parsePoints(options);
      if (options.json && options.html === STDOUT) {
        throw new UscopeError(
          'CLI_USAGE',
          '--json and --html - both print to stdout; give the page a file name',
        );
      }
      return withTrace(file, async (trace) => {
        const report = await analyze(trace, options, asked, points);
        if (options.html !== undefined) writePage(options.html, file, trace, report);
        if (options.json) printJson({ file: shownName(file), ...report });
        else if (options.html === undefined) {
          printReport(report, { colour: options.color ?? io.colour, out: (text) => io.out(text) });
        }
      });
    });
}

function analyze(
  trace: Trace,
  options: StatsOptions,
  asked: AskedRange,
  points: number,
): Promise<PerformanceReport> {
  const cores = options.core.length > 0 ? options.core : undefined;
  const clock = findCore(trace, cores?.[0]).clock?.name;
  const range = rangeInTime(asked, trace, clock);
  return withProgress('analysing', (onProgress) =>
    analyzePerformance(trace, { ...range, cores, points, onProgress }),
  );
}

/** @throws UscopeError WRITER_IO when the file cannot be written */
function writePage(target: string, file: string, trace: Trace, report: PerformanceReport): void {
  const page = reportPage(report, { name: basename(shownName(file)), dut: trace.dut });
  if (target === STDOUT) {
    io.out(page);
    return;
  }
  try {
    writeFileSync(target, page);
  } catch (cause) {
    const detail = `the page cannot be written: ${(cause as Error).message}`;
    throw new UscopeError('WRITER_IO', detail, { file: target }, { cause });
  }
  io.err(`uscope: wrote ${target}`);
}

/** @throws UscopeError CLI_USAGE */
function parsePoints({ points, html }: StatsOptions): number {
  if (points === undefined) return html === undefined ? DEFAULT_POINTS : PAGE_POINTS;
  if (/^\d{1,5}$/.test(points) && Number(points) <= MAX_POINTS) return Number(points);
  throw new UscopeError('CLI_USAGE', `--points "${points}" is not a number from 0 to ${MAX_POINTS}`);
}
