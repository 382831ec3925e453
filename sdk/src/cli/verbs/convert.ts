/** `uscope convert`: traces of other formats to µScope, µScope to other formats, and from any of them to any. */
import type { Command } from 'commander';
import { isUscopeError, UscopeError } from '../../base/errors.js';
import {
  type AnyFormat,
  type ConversionResult,
  convert,
  FORMATS,
  formatForName,
  formatNamed,
  formatOf,
  nameOf,
  type ReportRow,
  readableFormats,
  USCOPE,
} from '../../formats/index.js';
import type { Source } from '../../reader/index.js';
import { tellPartial, warnOnce } from '../common/foreign.js';
import { withInterrupt } from '../common/interrupt.js';
import { ExitCode, io, printJson } from '../common/io.js';
import { append, parseOptions } from '../common/option-values.js';
import { openInput } from '../common/pipe-source.js';
import { withProgress } from '../common/progress-bar.js';
import { shownName } from '../common/trace-file.js';
import { compressionOf, intervalOf } from '../common/writer-arguments.js';

interface ConvertArguments {
  readonly output?: string;
  readonly from?: string;
  readonly to?: string;
  readonly opt: readonly string[];
  readonly map?: string;
  readonly stageNames?: string;
  readonly guess?: boolean;
  readonly waive: readonly string[];
  readonly strict?: boolean;
  readonly force?: boolean;
  readonly compression?: string;
  readonly small?: boolean;
  readonly checkpointInterval?: string;
  readonly formats?: boolean;
  readonly json?: boolean;
}

export function register(command: Command): void {
  command
    .description(
      'Converts a trace: other formats to µScope, µScope to other formats, or one of them to another. The input is recognized by its content, the output by its name. Reports what was kept, approximated and dropped. With --strict it ends with 3 when something was dropped that is not waived.',
    )
    .argument('[file]', 'the trace to convert; - reads standard input')
    .option(
      '-o, --output <file>',
      'what to write; formats with a file per core put its name before the extension',
    )
    .option('--from <format>', 'format of the input (default: by its content)')
    .option('--to <format>', 'format of the output (default: by its name)')
    .option('--opt <name=value>', 'an option of a format (may be repeated); --formats lists them', append, [])
    .option('--map <file>', 'for a waveform: which signals become what; the same as --opt map=FILE')
    .option(
      '--stage-names <names>',
      'for a Kanata output: short (default) or full; the same as --opt stage-names=NAMES',
    )
    .option('--guess', 'print a map for a waveform, by the names in it, instead of converting')
    .option(
      '--waive <what>',
      'what may be dropped without a note or a failure of --strict, or all (may be repeated)',
      append,
      [],
    )
    .option('--strict', 'end with 3 when something was dropped that is not waived')
    .option('--force', 'replace files that are there already')
    .option('--compression <method>', 'for a µScope output: lz4, zstd, none (default: lz4)')
    .option('--small', 'for a µScope output: the smallest file, zstd')
    .option('--checkpoint-interval <time>', 'for a µScope output: simulated time between checkpoints')
    .option('--formats', 'list the formats and their options')
    .option('--json', 'the report as one JSON document')
    .action(async (file: string | undefined, args: ConvertArguments) => {
      if (args.formats) await printFormats(args.json === true);
      else if (args.guess) await printGuess(required(file, 'a waveform'), args.from);
      else await convertFile(required(file, 'a file to convert'), required(args.output, '-o OUTPUT'), args);
    });
}

function required(value: string | undefined, what: string): string {
  if (value !== undefined) return value;
  throw new UscopeError('CLI_USAGE', `${what} is missing; \`uscope help convert\` shows the command`);
}

async function convertFile(file: string, output: string, args: ConvertArguments): Promise<void> {
  const { force } = args;
  const target = { compression: compressionOf(args), checkpointIntervalPs: intervalOf(args) };
  const options = parseOptions([
    ...args.opt,
    ...(args.map === undefined ? [] : [`map=${args.map}`]),
    ...(args.stageNames === undefined ? [] : [`stage-names=${args.stageNames}`]),
  ]);
  const result = await withSource(file, async (source) => {
    const from = await inputFormat(source, args.from);
    const { format: to, extension } = await outputFormat(output, args.to);
    return withInterrupt(output, (signal) =>
      withProgress('converting', (onProgress) =>
        convert({
          ...{ input: file, source, from, to, output, extension, options, force, target },
          ...{ onProgress, onWarning: warnOnce(file), signal },
        }),
      ),
    );
  });
  if (result) tell(file, result, args);
}

/** `--guess`: a map, to be read and completed before it is used. @throws UscopeError CONVERT_* */
async function printGuess(file: string, named: string | undefined): Promise<void> {
  await withSource(file, async (source) => {
    const format = await inputFormat(source, named);
    const trace = format === USCOPE ? undefined : await format.open?.(source, new Map());
    if (!trace?.guess)
      throw new UscopeError('CLI_USAGE', `--guess is for waveforms; this is ${nameOf(format)}`);
    io.out(await trace.guess());
  });
}

async function withSource<T>(file: string, use: (source: Source) => Promise<T>): Promise<T> {
  const source = await openInput(file);
  try {
    return await use(source);
  } catch (error) {
    const isOurs = isUscopeError(error) && error.code !== 'CLI_USAGE' && error.code !== 'CONVERT_OPTION';
    throw isOurs ? error.at({ file: shownName(file) }) : error;
  } finally {
    await source.close?.();
  }
}

async function inputFormat(source: Source, named: string | undefined): Promise<AnyFormat> {
  const found = await formatOf(source, named);
  if (found !== null) return found;
  throw new UscopeError(
    'CONVERT_UNKNOWN',
    `the file begins like none of ${(await readableFormats()).join(', ')}; name its format with --from`,
  );
}

async function outputFormat(output: string, named: string | undefined) {
  if (named === undefined) return formatForName(output);
  const format: AnyFormat = named.toLowerCase() === USCOPE ? USCOPE : await formatNamed(named);
  const own = format === USCOPE ? ['.uscope'] : format.extensions;
  const longestFirst = [...own].sort((a, b) => b.length - a.length);
  const last = /\.[^./]+$/.exec(output)?.[0] ?? '';
  return { format, extension: longestFirst.find((one) => output.toLowerCase().endsWith(one)) ?? last };
}

function tell(file: string, { steps, outputs, isPartial }: ConversionResult, args: ConvertArguments): void {
  const waived = new Set(args.waive);
  if (args.json) {
    const shown = steps.map(({ from, to, report }) => ({ from, to, report: report.rows.map(rowJson) }));
    printJson({ input: shownName(file), outputs, partial: isPartial, steps: shown });
  } else {
    for (const { path, bytes } of outputs) io.err(`${path}: ${bytes} bytes`);
    for (const { from, to, report } of steps) {
      io.err(`${from} to ${to}:`);
      for (const row of report.rows) io.err(`  ${rowText(row)}`);
    }
  }
  tellPartial(file, isPartial);
  const lost = steps.flatMap(({ report }) => report.unwaived(waived));
  if (lost.length === 0) return;
  const words = lost.map(({ what, count }) => `${count} ${what}`).join(', ');
  const { strict } = args;
  const hint = strict ? `; --waive '${lost[0].what}' accepts that` : '';
  io.err(`uscope: ${strict ? 'warning' : 'note'}: dropped: ${words}${hint}`);
  if (strict) process.exitCode = ExitCode.LOSS;
}

const rowText = ({ fate, what, how, count }: ReportRow): string =>
  `${fate.padEnd('approximated'.length)}  ${String(count).padStart(10)}  ${what}: ${how}`;

const rowJson = ({ fate, what, how, count }: ReportRow) => ({ fate, what, how, count });

async function printFormats(asJson: boolean): Promise<void> {
  const formats = await Promise.all([...FORMATS.values()].map(async (load) => (await load()).FORMAT));
  if (asJson) {
    printJson(
      formats.map((format) => ({
        ...{ name: format.name, title: format.title, extensions: format.extensions },
        ...{ reads: Boolean(format.open), writes: Boolean(format.write), options: format.options },
      })),
    );
    return;
  }
  for (const format of formats) {
    const ways = [format.open ? 'read' : '', format.write ? 'written' : ''].filter(Boolean).join(' and ');
    io.out(`${nameOf(format)}: ${format.title} (${format.extensions.join(' ')}), ${ways}\n`);
    for (const { name, help, direction } of format.options) {
      const when = direction === 'both' ? '' : ` [${direction === 'import' ? 'reading' : 'writing'}]`;
      io.out(`  --opt ${name}=…${when}: ${help}\n`);
    }
  }
}
