/** `uscope timeline`: the pipeline of a range of cycles, one row per instruction. */
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import type { Trace } from '../../reader/index.js';
import { type CpuCore, findCore } from '../../semantics/cpu/cores.js';
import { DEFAULT_TIMELINE_WIDTH, printTimeline } from '../../semantics/timeline/print.js';
import type { TimelineRange } from '../../semantics/timeline/selection.js';
import { selected } from '../../semantics/timeline/selection.js';
import { io } from '../common/io.js';
import { append } from '../common/option-values.js';
import { addRangeOptions } from '../common/ranges.js';
import { withTrace } from '../common/trace-file.js';
import { expandTraces, withTraces } from '../runs/trace-set.js';
import { parseRequest, type RangeOptions, type Request, resolveRange } from '../timeline/range.js';

interface TimelineOptions extends RangeOptions {
  readonly core: readonly string[];
  readonly allCores?: boolean;
  readonly pc?: string;
  readonly width?: string;
  readonly color?: boolean;
  readonly json?: boolean;
}

const MIN_WIDTH = 60;

export function register(command: Command): void {
  command
    .description(
      'Prints one row per instruction and one column per cycle: the letter of the stage entered, in lower case while it is held. Without a range the first 60 cycles from the first instruction on, or more until 8 instructions have begun.',
    )
    .argument('<files...>', 'trace file; several, or a directory (its newest run): their cores on one axis');
  addRangeOptions(command)
    .option('--instructions <n:m>', 'instructions n to m (exclusive), counted from 0 in the order of fetch')
    .option('--around <pc>', 'around the first instruction at this address in the range')
    .option('--pc <pc>', 'another name for --around')
    .option('--last <n>', 'the last n cycles of the trace')
    .option('--core <name>', 'which core; by default the first. Repeated: these on one axis', append, [])
    .option('--all-cores', 'all cores of the trace, one below the other on one axis')
    .option('--width <n>', 'characters per line; by default those of the terminal')
    .option('--color', 'colours even if stdout is not a terminal')
    .option('--no-color', 'no colours')
    .option('--json', 'one JSON object per instruction')
    .action(async (paths: readonly string[], options: TimelineOptions) => {
      const around = options.around ?? options.pc;
      const request = parseRequest(around === undefined ? options : { ...options, around });
      const width = parseWidth(options.width);
      const files = await expandTraces(paths);
      if (files.length > 1 || options.allCores || options.core.length > 1)
        return together(files, options, request, width);
      const [file] = files;
      return withTrace(file, (trace) => alone(file, trace, options, request, width));
    });
}

async function alone(
  file: string,
  trace: Trace,
  options: TimelineOptions,
  request: Request,
  width: number,
): Promise<void> {
  const core = findCore(trace, options.core[0]);
  const range = await resolveRange(trace, core, request);
  const count = options.json
    ? await printJson(trace, core, range)
    : await printText(trace, core, range, width, options.color ?? io.colour);
  if (count === 0) tellEmpty(core.name, range.from, range.to, file);
}

function tellEmpty(name: string, from: bigint, to: bigint, file: string): void {
  io.err(`uscope: note: ${name} has no instruction in flight in cycles ${from} to ${to - 1n} (${file})`);
}

async function together(
  files: readonly string[],
  options: TimelineOptions,
  request: Request,
  width: number,
): Promise<void> {
  const { commonSpan, lanesOf, printLanesJson } = await import('../timeline/lanes.js');
  const { printTogether, rangeOf } = await import('../timeline/together.js');
  return withTraces(files, async (traces) => {
    const lanes = lanesOf(files, traces, options.core);
    const span = await commonSpan(lanes, request);
    if (options.json) return printLanesJson(lanes, span);
    const colour = options.color ?? io.colour;
    const rows = await printTogether(lanes, span, { width, colour, out: (text) => io.out(text) });
    for (const [index, lane] of lanes.entries()) {
      const { from, to } = rangeOf(lane, span);
      if (rows[index] === 0) tellEmpty(lane.name, from, to, lane.file);
    }
  });
}

async function printJson(trace: Trace, core: CpuCore, range: TimelineRange): Promise<number> {
  const { instructionJson } = await import('../timeline/json.js');
  let count = 0;
  for await (const instruction of selected(trace, core, range)) {
    io.out(`${instructionJson(core, instruction)}\n`);
    count++;
  }
  return count;
}

async function printText(
  trace: Trace,
  core: CpuCore,
  range: TimelineRange,
  width: number,
  colour: boolean,
): Promise<number> {
  const out = (text: string): void => io.out(text);
  const { printed, silent } = await printTimeline(trace, core, range, { width, colour, out });
  if (silent > 0) {
    io.err(
      `uscope: note: ${silent} instructions of ${core.name} have been in flight since long before and did nothing in this range; they are not listed`,
    );
  }
  return printed + silent;
}

/** @throws UscopeError CLI_USAGE */
function parseWidth(text: string | undefined): number {
  if (text === undefined) return Math.max(MIN_WIDTH, io.columns ?? DEFAULT_TIMELINE_WIDTH);
  if (/^\d{1,5}$/.test(text) && Number(text) >= MIN_WIDTH) return Number(text);
  throw new UscopeError('CLI_USAGE', `--width "${text}" is not a number from ${MIN_WIDTH} on`);
}
