/** `uscope dump`: every op and event, in file order. */
import type { Command } from 'commander';
import type { Trace } from '../../reader/index.js';
import { dumpForeign, refuseRange, withAnyTrace } from '../common/foreign.js';
import { io } from '../common/io.js';
import { frameTime, ItemFormat } from '../common/item-format.js';
import { withProgress } from '../common/progress-bar.js';
import {
  addRangeOptions,
  parseRange,
  type RangeArguments,
  rangeInTime,
  type TimeBounds,
} from '../common/ranges.js';
import { scanFraction } from '../common/scan-progress.js';

interface DumpOptions extends RangeArguments {
  readonly jsonl?: boolean;
  readonly json?: boolean;
}

export function register(program: Command): void {
  const command = program
    .command('dump')
    .summary('every op and event, in file order')
    .description(
      'Prints every op and event in file order, one per line. Output is streamed, whatever the size of the trace.',
    )
    .argument('<file>', 'trace file, also of another format')
    .option('--jsonl', 'one JSON object per line')
    .option('--json', 'the same as --jsonl');
  addRangeOptions(command).action((file: string, options: DumpOptions) => {
    const asked = parseRange(options);
    const asJson = Boolean(options.jsonl || options.json);
    return withAnyTrace(
      file,
      (trace) => dump(trace, rangeInTime(asked, trace), asJson),
      (foreign) => {
        refuseRange(foreign.description, options);
        return dumpForeign(foreign, asJson);
      },
    );
  });
}

async function dump(trace: Trace, range: TimeBounds, asJson: boolean): Promise<void> {
  const format = new ItemFormat(trace);
  let time = '';
  await withProgress(
    'reading',
    (update) =>
      trace.scan(range, {
        segment: (segment) => {
          update(scanFraction(trace, range, segment));
          return format.loadStrings(segment);
        },
        frame: (cursor) => {
          time = frameTime(cursor);
        },
        op: (cursor) => io.out(asJson ? format.opJson(cursor, time) : format.opText(cursor, time)),
        event: (cursor) => io.out(asJson ? format.eventJson(cursor, time) : format.eventText(cursor, time)),
      }),
    { streams: true },
  );
}
