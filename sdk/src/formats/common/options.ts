/** Values of a format's options, checked. */
import { UscopeError } from '../../base/errors.js';

type Options = ReadonlyMap<string, string>;

export function refused(name: string, value: string, allowed: string): UscopeError {
  return new UscopeError('CONVERT_OPTION', `${name}=${value}: it is ${allowed}`);
}

/** One of some words; null: the option is not given. @throws UscopeError CONVERT_OPTION */
export function choice<const T extends string>(
  options: Options,
  name: string,
  words: readonly T[],
): T | null {
  const given = options.get(name);
  if (given === undefined) return null;
  const word = words.find((one) => one === given);
  if (word !== undefined) return word;
  throw refused(name, given, `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`);
}
