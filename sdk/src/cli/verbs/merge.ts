/** `uscope merge`: several traces in one. */
import { basename } from 'node:path';
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import type { Trace } from '../../reader/index.js';
import { type MergePlan, type MergeReport, mergeTraces, planMerge } from '../../tools/merge/index.js';
import { io, printJson } from '../common/io.js';
import { append } from '../common/option-values.js';
import {
  addOutputOptions,
  type OutputArguments,
  statsJson,
  tellLosses,
  tellWritten,
  writeOutput,
} from '../common/output-trace.js';
import { shownName } from '../common/trace-file.js';
import { withTraces } from '../runs/trace-set.js';

interface MergeArguments extends OutputArguments {
  readonly scope: readonly string[];
}

export function register(command: Command): void {
  command
    .description(
      'Writes several traces into one, in the order of time, with a scope for each. At equal times the frames of the file named first come first.',
    )
    .argument('<files...>', 'trace files')
    .option(
      '--scope <name>',
      'scope for a file: the first one given is for the first file, and so on',
      append,
      [],
    );
  addOutputOptions(command).action((files: string[], options: MergeArguments) => merge(files, options));
}

async function merge(files: readonly string[], options: MergeArguments): Promise<void> {
  if (options.scope.length > files.length) {
    throw new UscopeError('CLI_USAGE', `${options.scope.length} scopes are given for ${files.length} files`);
  }
  await withTraces(files, async (traces) => {
    const plan = await planOf(files, traces, options);
    const report = await writeOutput('merge', options, files, (output) => mergeTraces(plan, output));
    if (report) tell(plan, report, options);
  });
}

async function planOf(
  files: readonly string[],
  traces: readonly Trace[],
  options: MergeArguments,
): Promise<MergePlan> {
  const inputs = traces.map((trace, index) => ({
    trace,
    name: stemOf(shownName(files[index])),
    file: shownName(files[index]),
    scope: options.scope[index],
  }));
  const plan = await planMerge(inputs, stemOf(options.output));
  for (const note of plan.notes) io.err(`uscope: note: ${note}`);
  return plan;
}

const stemOf = (path: string): string => basename(path).replace(/\.uscope$/, '');

function tell({ notes }: MergePlan, report: MergeReport, { output, json }: MergeArguments): void {
  const { stats, inputs, shortenedStrings } = report;
  if (json) printJson({ output, ...statsJson(stats), inputs, shortenedStrings, notes });
  else {
    tellWritten(output, stats);
    for (const { name, scope, items } of inputs) io.err(`  ${scope}: ${items} items of ${name}`);
  }
  tellLosses([
    ...inputs.map(({ name, outOfRange }) => ({
      count: outOfRange,
      what: `ops of ${name} on slots no storage can have were left out`,
    })),
    { count: shortenedStrings, what: 'strings were cut at 65,520 bytes' },
  ]);
}
