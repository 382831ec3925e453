/** `uscope history`: every change of slots, fields and properties. */
import type { Command } from 'commander';
import { type Change, historyOfValues, type Trace, type WideChange } from '../../reader/index.js';
import { HistoryFormat } from '../common/history-format.js';
import { io } from '../common/io.js';
import { parseCount } from '../common/option-values.js';
import { withProgress } from '../common/progress-bar.js';
import { addRangeOptions, parseRange, type RangeArguments, rangeInTime } from '../common/ranges.js';
import { withTrace } from '../common/trace-file.js';
import { parseWatch, resolveWatch } from '../common/watches.js';

interface HistoryOptions extends RangeArguments {
  readonly writes?: boolean;
  readonly limit?: string;
  readonly json?: boolean;
}

export function register(command: Command): void {
  command
    .description(
      'Prints every change of the slots, fields and properties named, with the values before and after it, in file order.',
    )
    .argument('<file>', 'trace file')
    .argument(
      '<storage...>',
      'what to follow: STORAGE, STORAGE[SLOT], STORAGE[A:B] (B exclusive), each may end with .FIELD or .PROPERTY',
    );
  addRangeOptions(command)
    .option('--writes', 'also writes that leave a value as it was')
    .option('--limit <n>', 'stop after n changes')
    .option('--json', 'one JSON object per line')
    .action((file: string, storages: readonly string[], options: HistoryOptions) => {
      const asked = parseRange(options);
      const limit = parseCount('--limit', options.limit);
      const watches = storages.map(parseWatch);
      return withTrace(file, async (trace) => {
        const range = rangeInTime(asked, trace);
        const resolved = watches.map((watch) => resolveWatch(trace, watch));
        await withProgress(
          'reading',
          (progress) => {
            const changes = historyOfValues(trace, resolved, { ...range, writes: options.writes, progress });
            return print(trace, changes, {
              limit,
              asJson: Boolean(options.json),
            });
          },
          { streams: true },
        );
      });
    });
}

async function print(
  trace: Trace,
  changes: AsyncGenerator<Change | WideChange>,
  { limit, asJson }: { readonly limit: number; readonly asJson: boolean },
): Promise<void> {
  if (limit === 0) return;
  const format = new HistoryFormat(trace);
  let left = limit;
  for await (const change of changes) {
    await format.loadStrings(change);
    io.out(asJson ? format.json(change) : format.text(change));
    if (--left <= 0) break;
  }
}
