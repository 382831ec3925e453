/** `uscope dump`: every op and event, in file order. */
import type { Command } from 'commander';
import type { Trace } from '../../reader/index.js';
import { io } from '../io.js';
import { frameTime, ItemFormat } from '../item-format.js';
import { parseOptionalTime } from '../times.js';
import { withTrace } from '../trace-file.js';

interface DumpOptions {
  readonly jsonl?: boolean;
  readonly json?: boolean;
  readonly from?: string;
  readonly to?: string;
}

export function register(program: Command): void {
  program
    .command('dump')
    .summary('every op and event, in file order')
    .description(
      'Prints every op and event in file order, one per line. Output is streamed, whatever the size of the trace.',
    )
    .argument('<file>', 'trace file')
    .option('--jsonl', 'one JSON object per line')
    .option('--json', 'the same as --jsonl')
    .option('--from <time>', 'first time, inclusive: 4000 (ps), 4ns, 1.5us, …')
    .option('--to <time>', 'last time, exclusive')
    .action((file: string, options: DumpOptions) => {
      const range = { from: parseOptionalTime(options.from), to: parseOptionalTime(options.to) };
      return withTrace(file, (trace) => dump(trace, range, Boolean(options.jsonl || options.json)));
    });
}

async function dump(
  trace: Trace,
  range: { from?: bigint | undefined; to?: bigint | undefined },
  asJson: boolean,
) {
  const format = new ItemFormat(trace);
  let time = '';
  await trace.scan(range, {
    segment: (segment) => format.loadStrings(segment),
    frame: (cursor) => {
      time = frameTime(cursor);
    },
    op: (cursor) => io.out(asJson ? format.opJson(cursor, time) : format.opText(cursor, time)),
    event: (cursor) => io.out(asJson ? format.eventJson(cursor, time) : format.eventText(cursor, time)),
  });
}
