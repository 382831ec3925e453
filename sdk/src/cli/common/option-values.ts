/** Values of options as several verbs take them. */
import { UscopeError } from '../../base/errors.js';

/** A count from 0 on; absent: no limit. @throws UscopeError CLI_USAGE */
export function parseCount(option: string, text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  if (!/^\d{1,15}$/.test(text)) throw new UscopeError('CLI_USAGE', `${option} "${text}" is not a number`);
  return Number(text);
}

/** Timers of Node take no more. */
const MAX_SECONDS = 2_147_483;

/** Seconds as ms: `30`, `0.5`. @throws UscopeError CLI_USAGE */
export function parseSeconds(
  option: string,
  text: string | undefined,
  most = MAX_SECONDS,
): number | undefined {
  if (text === undefined) return undefined;
  const ms = Math.round(Number(text) * 1000);
  if (/^\d+(\.\d+)?$/.test(text) && ms >= 1 && ms <= most * 1000) return ms;
  throw new UscopeError('CLI_USAGE', `${option} "${text}" is not a number of seconds from 0.001 to ${most}`);
}

/** Gathers the values of an option that may be repeated: `.option(FLAGS, TEXT, append, [])`. */
export const append = (value: string, all: readonly string[] = []): string[] => [...all, value];

const MAX_POINTS = 65_536;

/** `--series N`. @throws UscopeError CLI_USAGE */
export function parsePoints(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const points = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : Number.NaN;
  if (points <= MAX_POINTS) return points;
  throw new UscopeError('CLI_USAGE', `--series "${text}" is not a number from 1 to ${MAX_POINTS}`);
}

const BYTES_PER_UNIT: Readonly<Record<string, number>> = {
  '': 1,
  K: 2 ** 10,
  M: 2 ** 20,
  G: 2 ** 30,
  T: 2 ** 40,
};

/** `64MB`, `64M`, `64MiB`: powers of 1024, as for memory. null: no size. */
export function parseSize(text: string): number | null {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?$/i.exec(text.trim()) ?? [];
  const bytes = Math.floor(Number(digits) * BYTES_PER_UNIT[unit?.toUpperCase() ?? '']);
  return Number.isSafeInteger(bytes) ? bytes : null;
}

/** `--opt NAME=VALUE`: options of a foreign format. @throws UscopeError CLI_USAGE */
export function parseOptions(given: readonly string[]): Map<string, string> {
  return new Map(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at > 0) return [text.slice(0, at), text.slice(at + 1)] as const;
      throw new UscopeError('CLI_USAGE', `--opt "${text}" is not of the form NAME=VALUE`);
    }),
  );
}
