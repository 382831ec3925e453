/** `--series N`. */
import { UscopeError } from '../../base/errors.js';

const MAX_POINTS = 65_536;

/** @throws UscopeError CLI_USAGE */
export function parsePoints(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const points = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : Number.NaN;
  if (points <= MAX_POINTS) return points;
  throw new UscopeError('CLI_USAGE', `--series "${text}" is not a number from 1 to ${MAX_POINTS}`);
}
