/** `uscope stats`: how a core performed over a range. */
import { basename } from 'node:path';
import type { Command } from 'commander';
import { toldApart } from '../../base/colours.js';
import { UscopeError } from '../../base/errors.js';
import type { DutProperties } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import {
  analyzePerformance,
  type PerformanceOptions,
  SYNTHETIC_TIME,
} from '../../semantics/cpu/analysis/analyze.js';
import type { PerformanceReport } from '../../semantics/cpu/analysis/report.js';
import { type CpuCore, findCore, findCores } from '../../semantics/cpu/cores.js';
import type { AtomicOptions } from '../../writer/output/atomic-file.js';
import { printForeignStats, splitFrom } from '../common/foreign.js';
import { io, printJson } from '../common/io.js';
import { append } from '../common/option-values.js';
import { withProgress } from '../common/progress-bar.js';
import {
  type AskedRange,
  addRangeOptions,
  parseRange,
  type RangeArguments,
  rangeInTime,
} from '../common/ranges.js';
import { shownName, withTrace } from '../common/trace-file.js';
import { addExactOption, fromIndexOrScan } from '../common/whole-trace.js';
import { distinctNames, expandTraces } from '../runs/trace-set.js';

interface StatsOptions extends RangeArguments {
  readonly core: readonly string[];
  readonly allCores?: boolean;
  readonly points?: string;
  readonly html?: string;
  readonly force?: boolean;
  readonly color?: boolean;
  readonly exact?: boolean;
  readonly json?: boolean;
}

const DEFAULT_POINTS = 60;
/** A page has room for more. */
const PAGE_POINTS = 400;
const MAX_POINTS = 10_000;
const STDOUT = '-';

export function register(command: Command): void {
  command
    .description(
      'Analyses a range of a trace, by default all of it: IPC, flushes and stalls by reason, latency of each stage, occupancy of the buffers, instruction mix and counters, for each core.',
    )
    .argument('<files...>', 'trace files, or directories: the traces of their newest run')
    .option('--all-cores', 'only the table that puts the cores side by side')
    .option('--core <name>', 'only this core (may be repeated)', append, []);
  addExactOption(addRangeOptions(command, true))
    .option('--points <n>', 'intervals of the figures over time')
    .option('--html <file>', 'the report as a web page in one file; - for stdout')
    .option('--force', 'replace a page that is there already')
    .option('--color', 'colours even if stdout is not a terminal')
    .option('--no-color', 'no colours')
    .option('--json', 'one JSON document')
    .action(async (paths: readonly string[], given: StatsOptions) => {
      const { args: options, format } = splitFrom(given);
      const asked = parseRange(options);
      const points = parsePoints(options);
      if (options.json && options.html === STDOUT) {
        throw new UscopeError(
          'CLI_USAGE',
          '--json and --html - both print to stdout; give the page a file name',
        );
      }
      const files = await expandTraces(paths);
      if (files.length === 1 && (await printForeignStats(files[0], options, format))) return;
      const analyses: Analysis[] = [];
      for (const file of files) {
        const analysis = await withTrace(file, (trace) =>
          analyze({ file, trace }, options, asked, points, files.length > 1),
        );
        if (analysis) analyses.push(analysis);
      }
      if (analyses.length === 0) throw nothingFound(files, options.core);
      const report = joined(analyses);
      if (options.html !== undefined)
        await writePage(options.html, analyses, report, { inputs: files, force: options.force });
      if (options.json) printJson(reportJson(files, analyses, report));
      else if (options.html === undefined) {
        const { printReport } = await import('../stats/text.js');
        const { color, allCores = false } = options;
        printReport(report, {
          colour: color ?? io.colour,
          onlyTogether: allCores,
          out: (text) => io.out(text),
        });
      }
    });
}

interface Analysis {
  readonly file: string;
  readonly dut: DutProperties;
  /** Stall reasons of each core of the report. */
  readonly reasons: readonly (readonly string[])[];
  readonly report: PerformanceReport;
}

interface Subject {
  readonly file: string;
  readonly trace: Trace;
}

/** @param isOneOfMany a trace without such cores is passed over: null */
async function analyze(
  subject: Subject,
  options: StatsOptions,
  asked: AskedRange,
  points: number,
  isOneOfMany: boolean,
): Promise<Analysis | null> {
  const { file, trace } = subject;
  const wanted = options.core.filter((name) => !isOneOfMany || has(trace, name));
  if (isOneOfMany && (findCores(trace).length === 0 || (options.core.length > 0 && wanted.length === 0))) {
    return null;
  }
  const report = await analyzeRange(subject, wanted, asked, points, options.exact);
  const synthetic = trace.dutProperty(SYNTHETIC_TIME);
  if (synthetic !== undefined) {
    io.err(
      `uscope: note: the time of ${shownName(file)} is made up (${synthetic}): no IPC, and latencies say nothing`,
    );
  }
  const reasons = report.cores.map(({ core }) => toldApart(stallLabels(findCore(trace, core))));
  return { file: shownName(file), dut: trace.dut, reasons, report };
}

const stallLabels = ({ events }: CpuCore): string[] =>
  events
    .get('stall')
    ?.fields.get('reason')
    ?.labels?.values.map(({ name }) => name) ?? [];

function has(trace: Trace, name: string): boolean {
  const matches = ({ name: known }: CpuCore): boolean => known === name || known.endsWith(`/${name}`);
  return findCores(trace).some(matches);
}

function nothingFound(files: readonly string[], cores: readonly string[]): UscopeError {
  const what = cores.length > 0 ? `core ${cores.map((core) => `"${core}"`).join(' or ')}` : 'cores';
  return new UscopeError('READER_NAME', `none of the ${files.length} traces has ${what} (protocol "cpu")`);
}

/** As if all cores were of one trace. */
function joined(analyses: readonly Analysis[]): PerformanceReport {
  const [{ report: first }] = analyses;
  if (analyses.length === 1) return first;
  const cores = analyses.flatMap(({ file, report }) => report.cores.map((core) => ({ file, core })));
  const names = distinctNames(cores.map(({ file, core }) => ({ file, core: core.core })));
  return {
    fromPs: least(analyses.map(({ report }) => report.fromPs)),
    toPs: -least(analyses.map(({ report }) => -report.toPs)),
    percentiles: first.percentiles,
    cores: cores.map(({ core }, index) => ({ ...core, core: names[index] })),
  };
}

function least(values: readonly bigint[]): bigint {
  let smallest = values[0];
  for (const value of values) if (value < smallest) smallest = value;
  return smallest;
}

/** Of several traces each core tells its file. */
function reportJson(files: readonly string[], analyses: readonly Analysis[], report: PerformanceReport) {
  if (files.length === 1) return { file: analyses[0].file, ...report };
  const owners = analyses.flatMap(({ file, report: { cores } }) => cores.map(() => file));
  const cores = report.cores.map((core, index) => ({ file: owners[index], ...core }));
  return { files: analyses.map(({ file }) => file), ...report, cores };
}

function analyzeRange(
  { file, trace }: Subject,
  wanted: readonly string[],
  asked: AskedRange,
  points: number,
  isExact: boolean | undefined,
): Promise<PerformanceReport> {
  const cores = wanted.length > 0 ? wanted : undefined;
  const clock = findCore(trace, cores?.[0]).clock?.name;
  const range = rangeInTime(asked, trace, clock);
  const question = { ...range, cores, points };
  return fromIndexOrScan(
    file,
    trace,
    isExact,
    async (index) => {
      const { performanceFromIndex } = await import('../../trace-index/reports/performance.js');
      return performanceFromIndex(index, question);
    },
    async (hasIndex) => {
      const grain = hasIndex ? await indexGrain(trace, question) : 1;
      return withProgress('analysing', (onProgress) =>
        analyzePerformance(trace, { ...question, grain, onProgress }),
      );
    },
  );
}

/** The figures over time have the same intervals, whether the index has the answer or not. */
async function indexGrain(trace: Trace, question: PerformanceOptions): Promise<number> {
  const { grainOfIndex } = await import('../../trace-index/reports/performance.js');
  return grainOfIndex(trace, question);
}

/** @throws UscopeError WRITER_* */
async function writePage(
  target: string,
  analyses: readonly Analysis[],
  report: PerformanceReport,
  output: AtomicOptions,
): Promise<void> {
  const [{ reportPage }, { writeFileAtomically }] = await Promise.all([
    import('../stats/html.js'),
    import('../../writer/output/atomic-file.js'),
  ]);
  const [first] = analyses;
  const names = analyses.map(({ file }) => basename(file));
  const subject = names.length > 1 ? `${names.length} traces: ${names.join(', ')}` : names[0];
  const dut = analyses.length > 1 ? [] : first.dut;
  const page = reportPage(report, {
    name: subject,
    dut,
    reasons: analyses.flatMap(({ reasons }) => reasons),
  });
  if (target === STDOUT) {
    io.out(page);
    return;
  }
  await writeFileAtomically(target, page, output);
  io.err(`uscope: wrote ${target}`);
}

/** @throws UscopeError CLI_USAGE */
function parsePoints({ points, html }: StatsOptions): number {
  if (points === undefined) return html === undefined ? DEFAULT_POINTS : PAGE_POINTS;
  if (/^\d{1,5}$/.test(points) && Number(points) <= MAX_POINTS) return Number(points);
  throw new UscopeError('CLI_USAGE', `--points "${points}" is not a number from 0 to ${MAX_POINTS}`);
}
