/** `uscope tail`: events of a trace while it grows. */
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import type { Trace } from '../../reader/index.js';
import {
  addEventOptions,
  type EventArguments,
  EventFilter,
  parseConditions,
} from '../common/event-filter.js';
import {
  DEFAULT_INTERVAL_MS,
  describeEnd,
  type FollowOptions,
  follow,
  waitForTrace,
} from '../common/follow.js';
import { ExitCode, io } from '../common/io.js';
import { parseCount, parseSeconds } from '../common/option-values.js';
import {
  addRangeOptions,
  parseRange,
  type RangeArguments,
  rangeInTime,
  type TimeBounds,
} from '../common/ranges.js';
import { shownName, withTrace } from '../common/trace-file.js';

interface TailOptions extends EventArguments, RangeArguments {
  readonly lines?: string;
  readonly limit?: string;
  readonly interval?: string;
  readonly timeout?: string;
  readonly wait?: boolean;
  readonly json?: boolean;
}

const DEFAULT_LINES = 10;
/** Segments looked back through for the last events. */
const MAX_LOOKBACK = 64;

export function register(command: Command): void {
  command
    .description(
      'Prints the last events of a trace, then those that a running simulation adds, until the trace is finalized. With a range all events from its start on.',
    )
    .argument('<file>', 'trace file');
  addRangeOptions(addEventOptions(command))
    .option('-n, --lines <n>', `begin with the last n events (default: ${DEFAULT_LINES})`)
    .option('--limit <n>', 'stop after n events')
    .option('--interval <seconds>', `polling interval (default: ${DEFAULT_INTERVAL_MS / 1000})`)
    .option('--timeout <seconds>', 'stop when nothing new arrives for this time')
    .option('--wait', 'wait for the file when it is not there yet')
    .option('--json', 'one JSON object per line, as `dump --jsonl` prints them')
    .action((file: string, options: TailOptions) => tail(file, options));
}

async function tail(file: string, options: TailOptions): Promise<void> {
  const asked = parseRange(options);
  const conditions = parseConditions(options);
  const limit = parseCount('--limit', options.limit);
  const lines = options.lines === undefined ? DEFAULT_LINES : parseCount('--lines', options.lines);
  const following = {
    intervalMs: parseSeconds('--interval', options.interval) ?? DEFAULT_INTERVAL_MS,
    timeoutMs: parseSeconds('--timeout', options.timeout),
  };
  if (options.wait && !(await waitForTrace(file, following))) {
    throw new UscopeError('READER_OPEN', `the file did not come within ${options.timeout} s`, { file });
  }
  await withTrace(file, async (trace) => {
    const filter = new EventFilter(trace, options.event, conditions, Boolean(options.json));
    const printer = new TailPrinter(trace, filter, rangeInTime(asked, trace), limit);
    if (isWhole(options)) await printer.printLast(lines);
    const isDone = !(await printer.printNew());
    await finish(file, trace, printer, following, isDone);
  });
}

async function finish(
  file: string,
  trace: Trace,
  printer: TailPrinter,
  following: FollowOptions,
  isDone: boolean,
): Promise<void> {
  const end = isDone ? 'stopped' : await follow(trace, following, () => printer.printNew());
  const name = shownName(file);
  if (end === 'finalized') {
    const { text, exitCode } = describeEnd(trace);
    io.err(`uscope: ${text} (${name})`);
    process.exitCode = exitCode;
  } else if (end === 'timeout') {
    const seconds = (following.timeoutMs ?? 0) / 1000;
    io.err(
      `uscope: nothing new for ${seconds} s and the trace is not finalized; its writer may have ended (${name})`,
    );
    process.exitCode = ExitCode.FAILED;
  } else {
    const rest = trace.isComplete ? '' : '; the trace continues';
    io.err(`uscope: stopped at ${printer.reason}${rest} (${name})`);
  }
}

/** No range was given. */
function isWhole({ from, to, cycles, cycle }: RangeArguments): boolean {
  return from === undefined && to === undefined && cycles === undefined && cycle === undefined;
}

/** Prints the events of segments as they come; each segment once. */
class TailPrinter {
  /** Why `printNew` returned false. */
  reason = '';
  /** Index of the first segment not printed yet. */
  private next = 0;
  private left: number;

  constructor(
    private readonly trace: Trace,
    private readonly filter: EventFilter,
    private readonly range: TimeBounds,
    limit: number,
  ) {
    this.left = limit;
  }

  /** The last `count` events of what is there; what follows begins after them. */
  async printLast(count: number): Promise<void> {
    const { trace } = this;
    const end = trace.segmentCount;
    let found: string[] = [];
    // Further back each time, until there are enough.
    for (let reach = 1; count > 0; reach *= 2) {
      const first = Math.max(0, end - reach, end - MAX_LOOKBACK);
      found = [];
      await this.scan(first, (line) => {
        found.push(line);
        if (found.length > count) found.shift();
      });
      if (found.length >= count || first === 0 || reach >= MAX_LOOKBACK) break;
    }
    for (const line of found) this.print(line);
    this.next = end;
    io.flush();
  }

  /** Prints what is new; false when nothing more is wanted. */
  async printNew(): Promise<boolean> {
    const { trace, range } = this;
    const end = trace.segmentCount;
    if (this.left > 0 && this.next < end) await this.scan(this.next, (line) => this.print(line));
    this.next = end;
    io.flush();
    if (this.left <= 0) this.reason = 'the number of events asked for';
    else if (range.to !== undefined && !trace.isComplete && trace.totalTimePs > range.to)
      this.reason = 'the end of the range';
    return this.reason === '';
  }

  private print(line: string): boolean {
    if (this.left <= 0) return false;
    io.out(line);
    return --this.left > 0;
  }

  /** Hands the lines of segments from `first` on to `use`, until it returns false. */
  private async scan(first: number, use: (line: string) => unknown): Promise<void> {
    const { trace, filter, range } = this;
    if (first >= trace.segmentCount) return;
    const { timeStartPs } = await trace.segment(first);
    const from = range.from !== undefined && range.from > timeStartPs ? range.from : timeStartPs;
    if (range.to !== undefined && from >= range.to) return;
    let isNew = false;
    await trace.scan(
      { ...range, from },
      {
        segment: (segment) => {
          // An earlier segment may reach the instant with which this one begins.
          isNew = segment.index >= first;
          return isNew ? filter.loadStrings(segment) : undefined;
        },
        event: (cursor) => {
          const line = isNew ? filter.line(cursor) : null;
          return line === null ? undefined : use(line);
        },
      },
    );
  }
}
