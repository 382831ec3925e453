/** Times and cycles as people write them on a command line. */
import { UscopeError } from '../../base/errors.js';
import { FS_PER_UNIT } from '../../base/units.js';
import type { Trace } from '../../reader/index.js';

const MAX_TIME = (1n << 64n) - 1n;

/**
 * `"123"` (ps), `"1.5ns"`, `"3us"`, `"2ms"`, `"1s"` -> ps, exactly.
 * @throws UscopeError CLI_USAGE when it is not a time, or not a whole number of ps
 */
export function parseTime(text: string): bigint {
  const match = /^(\d[\d_]*)(?:\.(\d+))?\s*(ps|ns|us|µs|ms|s)?$/.exec(text.trim());
  if (!match)
    throw new UscopeError('CLI_USAGE', `"${text}" is not a time; write 4000, 4ns, 1.5us, 2ms or 1s`);
  const [, whole, fraction = '', unit = 'ps'] = match;
  const scale = FS_PER_UNIT[unit];
  const divisor = FS_PER_UNIT.ps * 10n ** BigInt(fraction.length);
  const scaled = BigInt(whole.replaceAll('_', '') + fraction) * scale;
  if (scaled % divisor !== 0n)
    throw new UscopeError('CLI_USAGE', `"${text}" is not a whole number of picoseconds`);
  if (scaled / divisor > MAX_TIME)
    throw new UscopeError('CLI_USAGE', `"${text}" is beyond the 64 bits of a time`);
  return scaled / divisor;
}

/** `"N"` or `"CLOCK:N"`. @throws UscopeError CLI_USAGE */
export function parseClockCycle(text: string): { readonly number: bigint; readonly clock: string | null } {
  const match = /^(?:(.+):)?(\d[\d_]*)$/.exec(text.trim());
  if (!match) throw new UscopeError('CLI_USAGE', `"${text}" is not a cycle; write 1200 or core_clk:1200`);
  return { number: BigInt(match[2].replaceAll('_', '')), clock: match[1] ?? null };
}

/**
 * `"N"` or `"CLOCK:N"` -> ps at which that cycle begins. Without a clock it is that of the first scope with a protocol, else the first.
 * @throws UscopeError CLI_USAGE, READER_NAME (no such clock), READER_NO_CYCLES (its period is unknown)
 */
export function parseCycle(text: string, trace: Trace): bigint {
  const { number, clock } = parseClockCycle(text);
  return number * periodOfClock(trace, clock ?? undefined);
}

/** Period in ps of a clock by name, or of the default one. @throws UscopeError READER_NAME, READER_NO_CYCLES */
export function periodOfClock(trace: Trace, name?: string): bigint {
  return trace.timeOfCycle(1n, name);
}
