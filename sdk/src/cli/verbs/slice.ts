/** `uscope slice`: a part of a trace as a separate trace. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import { type RedactionRules, readRules, type SliceReport, sliceTrace } from '../../tools/slice/index.js';
import { io, printJson } from '../common/io.js';
import {
  addOutputOptions,
  type OutputArguments,
  statsJson,
  tellLosses,
  tellWritten,
  writeOutput,
} from '../common/output-trace.js';
import {
  type AskedRange,
  addRangeOptions,
  parseRange,
  type RangeArguments,
  rangeInTime,
} from '../common/ranges.js';
import { shownName, withTrace } from '../common/trace-file.js';

export function register(command: Command): void {
  command
    .description(
      'Writes the frames of a range into a separate trace. Its first checkpoint is the state at the begin of the range; times do not ' +
        'change. The strings that it refers to are kept, and its summary covers the slice only.',
    )
    .argument('<file>', 'trace file');
  addRangeOptions(command);
  command.option(
    '--redact <rules>',
    'a file of rules that say what to drop, rename or replace, for traces that others see',
  );
  addOutputOptions(command).action((file: string, options: RangeArguments & SliceArguments) =>
    slice(file, parseRange(options), options),
  );
}

interface SliceArguments extends OutputArguments {
  readonly redact?: string;
}

async function slice(file: string, asked: AskedRange, options: SliceArguments): Promise<void> {
  const redact = options.redact === undefined ? undefined : await rulesOf(options.redact);
  const report = await withTrace(file, (trace) =>
    writeOutput('slice', options, [file], (output) =>
      sliceTrace(trace, {
        ...output,
        ...rangeInTime(asked, trace),
        name: basename(shownName(file)),
        redact,
      }),
    ),
  );
  if (!report) return;
  for (const note of report.notes) io.err(`uscope: note: ${note}`);
  const { stats } = report;
  if (options.json)
    printJson({
      output: options.output,
      ...rangeJson(report),
      ...statsJson(stats),
      ...(report.redacted ? { redacted: report.redacted } : {}),
      lost: lossesJson(report),
    });
  else {
    tellWritten(options.output, stats);
    if (report.redacted) {
      const { texts, values } = report.redacted;
      io.err(`redacted: ${texts} texts were changed, and ${values} values of fields that the rules name`);
    }
  }
  tellLosses([
    { count: report.outOfRange, what: 'ops on slots no storage can have were left out' },
    { count: report.shortenedStrings, what: 'strings were cut at 65,520 bytes' },
  ]);
}

/** @throws UscopeError READER_OPEN, SCHEMA_* */
async function rulesOf(path: string): Promise<RedactionRules> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new UscopeError('READER_OPEN', `the rules cannot be read: ${(error as Error).message}`, {
      file: path,
    });
  }
  return readRules(text, path);
}

const rangeJson = ({ fromPs, toPs }: SliceReport) => ({ fromPs, toPs });

const lossesJson = ({ outOfRange, shortenedStrings, unresolvedStrings }: SliceReport) => ({
  opsOutOfRange: outOfRange,
  shortenedStrings,
  unresolvedStrings,
});
