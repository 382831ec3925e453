/** `uscope diff`: the first difference between two traces, and a summary of all. */
import { type Command, Option } from 'commander';
import { UscopeError } from '../../base/errors.js';
import type { Trace } from '../../reader/index.js';
import { findCores } from '../../semantics/cpu/index.js';
import { disassemble } from '../../semantics/cpu/riscv/disassemble.js';
import {
  DEFAULT_CONTEXT,
  type DiffMode,
  type DiffReport,
  diffRetiredCores,
  diffTraces,
  type ScopePair,
} from '../../tools/diff/index.js';
import { splitFrom } from '../common/foreign.js';
import { ExitCode, io, printJson } from '../common/io.js';
import { append, parseOptions } from '../common/option-values.js';
import { withProgress } from '../common/progress-bar.js';
import {
  type AskedRange,
  addRangeOptions,
  parseRange,
  type RangeArguments,
  rangeInTime,
} from '../common/ranges.js';
import { shownName } from '../common/trace-file.js';
import { withConverted } from '../diff/converted.js';
import { RETIRED_VALUES, retiredCores } from '../diff/retired-cores.js';
import { type Disassemble, printDiff } from '../diff/text.js';
import { withTraces } from '../runs/trace-set.js';

interface DiffArguments extends RangeArguments {
  readonly by: DiffMode;
  readonly core: readonly string[];
  readonly common?: boolean;
  readonly ignoreOrder?: boolean;
  readonly compare: string;
  readonly context: string;
  readonly first?: boolean;
  readonly json?: boolean;
  readonly opt: readonly string[];
}

/** What the command line asks for, checked before a file is opened. */
interface Request {
  readonly range: AskedRange;
  readonly scopes: readonly ScopePair[];
  readonly compare: readonly string[];
  readonly context: number;
}

export function register(command: Command): void {
  command
    .description(
      'Finds the first difference between two traces and sums up all of them. Storages and events are matched by path. ' +
        'Exit status 0: the same, 1: different or (with a code on stderr) a failure, 2: wrong usage.',
    )
    .argument('<a>', 'trace file, or a log or trace of another format')
    .argument('<b>', 'the same')
    .addOption(
      new Option(
        '--by <what>',
        'time: items; state: what storages hold; retired: instructions, whenever they retire',
      )
        .choices(['time', 'state', 'retired'])
        .default('time'),
    )
    .option(
      '--core <name[=name]>',
      'only this core or scope, or one of A with another of B (may be repeated)',
      append,
      [],
    );
  addRangeOptions(command, true)
    .option('--common', 'what only one trace has does not count as a difference')
    .option(
      '--ignore-order',
      'for --by time: items of different storages and events may be in any order within an instant',
    )
    .option(
      '--compare <names>',
      `for --by retired: what to compare in addition to pc and code`,
      RETIRED_VALUES.join(','),
    )
    .option(
      '--context <n>',
      'items or instructions shown around the first difference',
      String(DEFAULT_CONTEXT),
    )
    .option('--first', 'look for the first difference only')
    .option(
      '--opt <name=value>',
      'an option for reading a file of another format (may be repeated)',
      append,
      [],
    )
    .option('--json', 'one JSON document')
    .action((a: string, b: string, options: DiffArguments) => diff(a, b, options));
}

async function diff(fileA: string, fileB: string, given: DiffArguments): Promise<void> {
  const { args: options, format } = splitFrom(given);
  const request = parseRequest(options);
  await withConverted([fileA, fileB], { options: parseOptions(options.opt), format }, (paths) =>
    compareFiles([fileA, fileB], paths, options, request),
  );
}

async function compareFiles(
  [fileA, fileB]: readonly string[],
  paths: readonly string[],
  options: DiffArguments,
  request: Request,
): Promise<void> {
  await withTraces(paths, async ([a, b]) => {
    const report = await withProgress('diff', (update) =>
      compare([a, fileA], [b, fileB], options, request, update),
    );
    for (const note of report.notes) io.err(`uscope: note: ${note}`);
    if (options.json) printJson(report);
    else printDiff(report, disassemblerFor(a));
    if (!report.same) process.exitCode = ExitCode.FAILED;
  });
}

async function compare(
  [a, fileA]: [Trace, string],
  [b, fileB]: [Trace, string],
  options: DiffArguments,
  { range: asked, scopes, compare: values, context }: Request,
  onProgress: (part: number) => void,
): Promise<DiffReport> {
  const range = rangeInTime(asked, a);
  const [nameA, nameB] = [shownName(fileA), shownName(fileB)];
  const common = { context, commonOnly: options.common, stopAtFirst: options.first };
  if (options.by === 'retired') {
    const { cores, onlyA, onlyB } = await retiredCores(a, b, scopes, range);
    return diffRetiredCores(nameA, nameB, cores, onlyA, onlyB, { ...common, compare: values });
  }
  const [inA, inB] = [
    { trace: a, name: nameA },
    { trace: b, name: nameB },
  ];
  const { ignoreOrder } = options;
  return diffTraces(options.by, inA, inB, { ...common, scopes, range, ignoreOrder, onProgress });
}

/** For the instruction set of the first core that tells it. */
function disassemblerFor(trace: Trace): Disassemble {
  const xlen = findCores(trace).find((core) => core.xlen !== null)?.xlen ?? null;
  return (bits, pc) => (xlen === null ? null : disassemble(bits, { xlen, pc }));
}

/** @throws UscopeError CLI_USAGE */
function parseRequest(options: DiffArguments): Request {
  const context = Number(options.context);
  if (!/^\d{1,4}$/.test(options.context)) usage(`--context "${options.context}" is not a number up to 9999`);
  const compare = options.compare.split(',').filter((name) => name !== '' && name !== 'none');
  for (const name of compare) {
    if ((RETIRED_VALUES as readonly string[]).includes(name)) continue;
    usage(`--compare does not know "${name}"; it takes ${RETIRED_VALUES.join(', ')}, or none`);
  }
  const scopes = options.core.map((text) => {
    const [a, b = a, more] = text.split('=');
    if (!a || !b || more !== undefined) usage(`--core "${text}" is not NAME or NAME=NAME`);
    return { a, b };
  });
  return { range: parseRange(options), scopes, compare, context };
}

function usage(problem: string): never {
  throw new UscopeError('CLI_USAGE', problem);
}
