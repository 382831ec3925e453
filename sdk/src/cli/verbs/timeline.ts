/** `uscope timeline`: the pipeline of a range of cycles, one row per instruction. */
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import { type CpuCore, findCore, type Instruction, instructions, stalls } from '../../protocols/cpu/index.js';
import type { Trace } from '../../reader/index.js';
import { io } from '../io.js';
import { addRangeOptions } from '../ranges.js';
import { instructionJson } from '../timeline/json.js';
import { parseRequest, type RangeOptions, resolveRange, type TimelineRange } from '../timeline/range.js';
import { TextTimeline } from '../timeline/text.js';
import { withTrace } from '../trace-file.js';

interface TimelineOptions extends RangeOptions {
  readonly core?: string;
  readonly pc?: string;
  readonly width?: string;
  readonly color?: boolean;
  readonly json?: boolean;
}

/** For pipes, which have no width. */
const DEFAULT_WIDTH = 120;
const MIN_WIDTH = 60;

export function register(program: Command): void {
  const command = program
    .command('timeline')
    .summary('the pipeline, cycle by cycle')
    .description(
      'Prints one row per instruction and one column per cycle: the letter of the stage entered, in lower case while it is held. Without a range the first 60 cycles from the first instruction on.',
    )
    .argument('<file>', 'trace file');
  addRangeOptions(command)
    .option('--instructions <n:m>', 'instructions n to m (exclusive), counted from 0 in the order of fetch')
    .option('--around <pc>', 'around the first instruction at this address in the range')
    .option('--pc <pc>', 'another name of --around')
    .option('--last <n>', 'the last n cycles of the trace')
    .option('--core <name>', 'which core; by default the first')
    .option('--width <n>', 'characters per line; by default those of the terminal')
    .option('--color', 'colours even where stdout is no terminal')
    .option('--no-color', 'no colours')
    .option('--json', 'one JSON object per instruction')
    .action((file: string, options: TimelineOptions) => {
      const around = options.around ?? options.pc;
      const request = parseRequest(around === undefined ? options : { ...options, around });
      const width = parseWidth(options.width);
      return withTrace(file, async (trace) => {
        const core = findCore(trace, options.core);
        const range = await resolveRange(trace, core, request);
        const count = options.json
          ? await printJson(trace, core, range)
          : await printText(trace, core, range, width, options.color ?? io.colour);
        if (count === 0) {
          io.err(
            `uscope: note: ${core.name} has no instruction in flight in cycles ${range.from} to ${range.to - 1n} (${file})`,
          );
        }
      });
    });
}

async function printJson(trace: Trace, core: CpuCore, range: TimelineRange): Promise<number> {
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
  const { from, to } = range;
  const timeline = new TextTimeline(core, range, stalls(trace, core, { from, to, unit: 'cycles' }), {
    width,
    colour,
    lastCycle: trace.totalTimePs / core.periodPs,
    out: (text) => io.out(text),
  });
  for await (const instruction of selected(trace, core, range)) await timeline.add(instruction);
  await timeline.finish();
  if (timeline.silent > 0) {
    io.err(
      `uscope: note: ${timeline.silent} instructions of ${core.name} have been in flight since long before and did nothing in this range; they are not listed`,
    );
  }
  return timeline.printed + timeline.silent;
}

async function* selected(trace: Trace, core: CpuCore, range: TimelineRange): AsyncGenerator<Instruction> {
  const { from, to, numbers } = range;
  const numbering = numbers ? 'always' : 'cheap';
  for await (const instruction of instructions(trace, core, { from, to, unit: 'cycles' }, { numbering })) {
    if (numbers) {
      const { seq } = instruction;
      if (seq === null || seq < numbers[0]) continue;
      if (seq >= numbers[1]) return;
    }
    yield instruction;
  }
}

/** @throws UscopeError CLI_USAGE */
function parseWidth(text: string | undefined): number {
  if (text === undefined) return Math.max(MIN_WIDTH, process.stdout.columns ?? DEFAULT_WIDTH);
  if (/^\d{1,5}$/.test(text) && Number(text) >= MIN_WIDTH) return Number(text);
  throw new UscopeError('CLI_USAGE', `--width "${text}" is not a number from ${MIN_WIDTH} on`);
}
