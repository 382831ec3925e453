/** Numbers on a command line. */
import { UscopeError } from '../../base/errors.js';

/** A count from 0 on; absent: no limit. @throws UscopeError CLI_USAGE */
export function parseCount(option: string, text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  if (!/^\d{1,15}$/.test(text)) throw new UscopeError('CLI_USAGE', `${option} "${text}" is not a number`);
  return Number(text);
}

/** Seconds as ms: `30`, `0.5`. @throws UscopeError CLI_USAGE */
export function parseSeconds(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Math.round(Number(text) * 1000);
  if (/^\d+(\.\d+)?$/.test(text) && ms >= 1 && ms <= 0x7fff_ffff) return ms;
  throw new UscopeError('CLI_USAGE', `${option} "${text}" is not a number of seconds; write 30 or 0.5`);
}
