/** `uscope slice`: a part of a trace as a separate trace. */
import { basename } from 'node:path';
import type { Command } from 'commander';
import { createCpuSummarizer } from '../../semantics/cpu/index.js';
import { type SliceReport, sliceTrace } from '../../tools/slice/index.js';
import { createSegmentIndexer } from '../../trace-index/recording/segment-indexer.js';
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

export function register(program: Command): void {
  const command = program
    .command('slice')
    .summary('a part of a trace as a separate trace')
    .description(
      'Writes the frames of a range into a separate trace. Its first checkpoint is the state at the begin of the range; times stay what ' +
        'they are. Strings are kept as far as the slice refers to them, the summary is that of the slice.',
    )
    .argument('<file>', 'trace file');
  addRangeOptions(command);
  addOutputOptions(command).action((file: string, options: RangeArguments & OutputArguments) =>
    slice(file, parseRange(options), options),
  );
}

async function slice(file: string, asked: AskedRange, options: OutputArguments): Promise<void> {
  const report = await withTrace(file, (trace) =>
    writeOutput('slice', options, [file], (output) =>
      sliceTrace(trace, {
        ...output,
        ...rangeInTime(asked, trace),
        name: basename(shownName(file)),
        summarizer: createCpuSummarizer,
        index: createSegmentIndexer,
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
      lost: lossesJson(report),
    });
  else tellWritten(options.output, stats);
  tellLosses([
    { count: report.outOfRange, what: 'ops on slots no storage can have were left out' },
    { count: report.shortenedStrings, what: 'strings were cut at 65,520 bytes' },
  ]);
}

const rangeJson = ({ fromPs, toPs }: SliceReport) => ({ fromPs, toPs });

const lossesJson = ({ outOfRange, shortenedStrings, unresolvedStrings }: SliceReport) => ({
  opsOutOfRange: outOfRange,
  shortenedStrings,
  unresolvedStrings,
});
