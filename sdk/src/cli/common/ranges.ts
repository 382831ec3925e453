/** Ranges of time as every verb takes them: `--from`, `--to` in time, `--cycles`, `--cycle` in cycles of a clock. */
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import type { LoadedSegment, Trace } from '../../reader/index.js';
import { parseClockCycle, parseTime, periodOfClock } from './times.js';

export interface RangeArguments {
  readonly from?: string;
  readonly to?: string;
  readonly cycles?: string;
  readonly cycle?: string;
}

/** What the command line says, checked before a file is opened. `to` null: to the end; `clock` null: the default clock of the verb. */
export type AskedRange =
  | { readonly unit: 'ps'; readonly from: bigint; readonly to: bigint | null }
  | {
      readonly unit: 'cycles';
      readonly from: bigint;
      readonly to: bigint | null;
      readonly clock: string | null;
    };

/** In ps, start inclusive, end exclusive; what is not said is absent. */
export interface TimeBounds {
  readonly from?: bigint;
  readonly to?: bigint;
}

const FROM = 'first time, inclusive: 4000 (ps), 4ns, 1.5us, …';

/** The options of a range, the same for all verbs. @param readsForeign the verb reads files of other formats, too */
export function addRangeOptions(command: Command, readsForeign = false): Command {
  return command
    .option(
      '--from <time>',
      readsForeign ? `${FROM}; or the format of a file in another format: spike, qemu, …` : FROM,
    )
    .option('--to <time>', 'last time, exclusive')
    .option('--cycles <[clock:]a:b>', 'cycles a to b (exclusive) of a clock; either may be left out')
    .option('--cycle <[clock:]n>', 'only cycle n');
}

/** @throws UscopeError CLI_USAGE */
export function parseRange({ from, to, cycles, cycle }: RangeArguments): AskedRange {
  const given = [
    (from !== undefined || to !== undefined) && '--from/--to',
    cycles !== undefined && '--cycles',
    cycle !== undefined && '--cycle',
  ].filter((name) => name !== false);
  if (given.length > 1) usage(`${given.join(' and ')} say the range twice; give one of them`);
  if (cycles !== undefined) return parseCycles(cycles);
  if (cycle !== undefined) {
    const { number, clock } = parseClockCycle(cycle);
    return { unit: 'cycles', from: number, to: number + 1n, clock };
  }
  const start = from === undefined ? 0n : parseTime(from);
  const end = to === undefined ? null : parseTime(to);
  if (end !== null && end <= start) usage(`--from ${from ?? 0} is not before --to ${to}`);
  return { unit: 'ps', from: start, to: end };
}

/** `A:B`, `A:`, `:B`, each with `CLOCK:` in front. @throws UscopeError CLI_USAGE */
export function parseCycles(text: string): AskedRange & { unit: 'cycles' } {
  const match = /^(?:(.+):)?([\d_]*):([\d_]*)$/.exec(text.trim());
  const [first, second] = [match?.[2] ?? '', match?.[3] ?? ''].map((part) => part.replaceAll('_', ''));
  if (!match || first + second === '')
    usage(`--cycles "${text}" is not a range; write 100:200 or core_clk:100:200`);
  const from = BigInt(first || 0);
  const to = second === '' ? null : BigInt(second);
  if (to !== null && to <= from) usage(`--cycles "${text}" is empty; the first is inclusive, the second not`);
  return { unit: 'cycles', from, to, clock: match[1] ?? null };
}

/**
 * The range in ps. Cycles count periods of the clock named, else of `defaultClock`, else of the first scope with a protocol.
 * @throws UscopeError READER_NAME (no such clock), READER_NO_CYCLES (its period is not known)
 */
export function rangeInTime(asked: AskedRange, trace: Trace, defaultClock?: string): TimeBounds {
  const scale = asked.unit === 'ps' ? 1n : periodOfClock(trace, asked.clock ?? defaultClock);
  const from = asked.from * scale;
  return asked.to === null ? { from } : { from, to: asked.to * scale };
}

function usage(problem: string): never {
  throw new UscopeError('CLI_USAGE', problem);
}

/** How far a scan over a range has come when it begins a segment: 0 to 1, by time. */
export function scanFraction(trace: Trace, { from = 0n, to }: TimeBounds, { header }: LoadedSegment): number {
  const end = to ?? trace.totalTimePs;
  return end > from ? Number(header.timeStartPs - from) / Number(end - from) : 1;
}
