/** What lies between two cycles. */
import { grouped } from './ticks.js';

export interface Difference {
  readonly cycles: string;
  readonly time: string;
  readonly retired: string;
  readonly ipc: string;
}

const MINUS = '−';
const signed = (value: number, text: string): string => (value < 0 ? `${MINUS}${text}` : text);

const UNITS = ['ps', 'ns', 'µs', 'ms', 's'] as const;

/** In the largest unit of which it is at least one. */
export function durationText(ps: number): string {
  const size = Math.abs(ps);
  const unit = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, size)) / 3)));
  const [whole, fraction] = (size / 1000 ** unit).toFixed(unit === 0 ? 0 : 3).split('.');
  return signed(ps, `${grouped(Number(whole))}${fraction ? `.${fraction}` : ''} ${UNITS[unit]}`);
}

/**
 * From one cycle to another, which may be earlier.
 * @param periodPs 0: there is no clock, then a cycle is a picosecond
 * @param retired before each of the two; undefined: not known
 */
export function difference(
  from: number,
  to: number,
  periodPs: number,
  retired: readonly [number | undefined, number | undefined],
): Difference {
  const cycles = to - from;
  const [before, after] = retired;
  const count = before === undefined || after === undefined ? null : after - before;
  return {
    cycles: signed(cycles, grouped(Math.abs(cycles))),
    time: durationText(cycles * (periodPs || 1)),
    retired: count === null ? '' : signed(count, grouped(Math.abs(count))),
    ipc: count === null || cycles === 0 ? '' : (count / cycles).toFixed(3),
  };
}
