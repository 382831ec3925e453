/** `Executed N times`, which Spike prints instead of the lines of a loop on itself: in hexadecimal before about 2020, in decimal later. */
import { UscopeError } from '../../base/errors.js';
import type { FormatOption } from '../common/foreign-format.js';

export const COUNTS_OPTION: FormatOption = {
  name: 'counts',
  help: 'decimal or hexadecimal: how `Executed N times` counts; default: hexadecimal where a count of the log has a letter',
  direction: 'import',
};

/** What the passes over a log know of its counts. */
export interface CountBase {
  readonly isGiven: boolean;
  isHexadecimal: boolean;
}

/** @throws UscopeError CONVERT_OPTION */
export function countBase(options: ReadonlyMap<string, string>): CountBase {
  const text = options.get(COUNTS_OPTION.name);
  if (text !== undefined && text !== 'decimal' && text !== 'hexadecimal')
    throw new UscopeError('CONVERT_OPTION', `counts=${text}: it is decimal or hexadecimal`);
  return { isGiven: text !== undefined, isHexadecimal: text === 'hexadecimal' };
}
