/** `uscope dump`: every op and event, in file order. */
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import type { Trace } from '../../reader/index.js';
import { dumpForeign, refuseRange, splitFrom, withAnyTrace } from '../common/foreign.js';
import { io } from '../common/io.js';
import { frameTime, ItemFormat } from '../common/item-format.js';
import { append } from '../common/option-values.js';
import { withProgress } from '../common/progress-bar.js';
import {
  addRangeOptions,
  parseRange,
  type RangeArguments,
  rangeInTime,
  scanFraction,
  type TimeBounds,
} from '../common/ranges.js';
import { WideOps } from '../common/wide-ops.js';

interface DumpOptions extends RangeArguments {
  readonly jsonl?: boolean;
  readonly json?: boolean;
  readonly without: readonly string[];
}

export function register(command: Command): void {
  command
    .description(
      'Prints every op and event in file order, one per line. Output is streamed, whatever the size of the trace.',
    )
    .argument('<file>', 'trace file, also of another format')
    .option('--jsonl', 'one JSON object per line')
    .option('--json', 'the same as --jsonl')
    .option('--without <name>', 'leave out a storage or an event type (may be repeated)', append, []);
  addRangeOptions(command, true).action((file: string, given: DumpOptions) => {
    const { args: options, format } = splitFrom(given);
    const asked = parseRange(options);
    const asJson = Boolean(options.jsonl || options.json);
    return withAnyTrace(
      file,
      (trace) => dump(trace, rangeInTime(asked, trace), asJson, leftOut(trace, options.without)),
      (foreign) => {
        refuseRange(foreign.description, options);
        if (options.without.length > 0) throw new UscopeError('CLI_USAGE', '--without is for µScope traces');
        return dumpForeign(foreign, asJson);
      },
      format,
    );
  });
}

interface LeftOut {
  readonly storages: ReadonlySet<number>;
  readonly events: ReadonlySet<number>;
}

/** A name without its scope means that storage or event of every scope. @throws UscopeError READER_NAME */
function leftOut({ names }: Trace, without: readonly string[]): LeftOut {
  const storages = without.flatMap((name) => idsOf(names.storageNames, name));
  const events = without.flatMap((name) => idsOf(names.eventNames, name));
  for (const name of without) {
    if (idsOf([...names.storageNames, ...names.eventNames], name).length === 0) names.storage(name);
  }
  return { storages: new Set(storages), events: new Set(events) };
}

const idsOf = (qualified: readonly string[], name: string): number[] =>
  qualified.flatMap((one, id) => (one === name || one.endsWith(`/${name}`) ? [id] : []));

async function dump(trace: Trace, range: TimeBounds, asJson: boolean, without: LeftOut): Promise<void> {
  const format = new ItemFormat(trace);
  const wideOp = asJson ? format.wideOpJson.bind(format) : format.wideOpText.bind(format);
  const wideOps = WideOps.of(trace, wideOp, (line) => io.out(line));
  let time = '';
  const scan = (update: (part: number) => void): Promise<void> =>
    trace.scan(range, {
      segment: (segment) => {
        update(scanFraction(trace, range, segment));
        return format.loadStrings(segment);
      },
      frame: (cursor) => {
        wideOps?.flush();
        time = frameTime(cursor);
      },
      op: (cursor) => {
        if (without.storages.has(cursor.storageId)) return;
        const line = asJson ? format.opJson(cursor, time) : format.opText(cursor, time);
        if (wideOps) wideOps.op(cursor, time, line);
        else io.out(line);
      },
      event: (cursor) => {
        if (without.events.has(cursor.eventType)) return;
        wideOps?.flush();
        io.out(asJson ? format.eventJson(cursor, time) : format.eventText(cursor, `${time} ps`));
      },
    });
  try {
    await withProgress('reading', scan, { streams: true });
  } finally {
    // Also what precedes a damage.
    wideOps?.flush();
  }
}
