/** `uscope events`: events, by type, time and field. */
import type { Command } from 'commander';
import type { Trace } from '../../reader/index.js';
import {
  addEventOptions,
  type EventArguments,
  EventFilter,
  parseConditions,
} from '../common/event-filter.js';
import { printForeignEvents, refuseRange, splitFrom, withAnyTrace } from '../common/foreign.js';
import { io } from '../common/io.js';
import { parseCount } from '../common/option-values.js';
import { withProgress } from '../common/progress-bar.js';
import {
  addRangeOptions,
  parseRange,
  type RangeArguments,
  rangeInTime,
  scanFraction,
  type TimeBounds,
} from '../common/ranges.js';

interface EventsOptions extends EventArguments, RangeArguments {
  readonly limit?: string;
  readonly json?: boolean;
}

export function register(command: Command): void {
  command
    .description('Prints events in file order, one per line. Names that are unique may leave out the scope.')
    .argument('<file>', 'trace file, also of another format');
  addRangeOptions(addEventOptions(command), true)
    .option('--limit <n>', 'stop after n events')
    .option('--json', 'one JSON object per line, as `dump --jsonl` prints them')
    .action((file: string, given: EventsOptions) => {
      const { args: options, format } = splitFrom(given);
      const asked = parseRange(options);
      const limit = parseCount('--limit', options.limit);
      const conditions = parseConditions(options);
      return withAnyTrace(
        file,
        async (trace) => {
          const filter = new EventFilter(trace, options.event, conditions, Boolean(options.json));
          await printEvents(trace, rangeInTime(asked, trace), filter, limit);
        },
        (foreign) => {
          refuseRange(foreign.description, options);
          return printForeignEvents(foreign, options, limit);
        },
        format,
      );
    });
}

async function printEvents(
  trace: Trace,
  range: TimeBounds,
  filter: EventFilter,
  limit: number,
): Promise<void> {
  if (limit === 0) return;
  let left = limit;
  await withProgress(
    'reading',
    (update) =>
      trace.scan(range, {
        segment: (segment) => {
          update(scanFraction(trace, range, segment));
          return filter.loadStrings(segment);
        },
        event: (cursor) => {
          const line = filter.line(cursor);
          if (line === null) return true;
          io.out(line);
          return --left > 0;
        },
      }),
    { streams: true },
  );
}
