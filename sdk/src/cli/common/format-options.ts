/** `--opt NAME=VALUE`: options of a foreign format. */
import { UscopeError } from '../../base/errors.js';

/** @throws UscopeError CLI_USAGE */
export function parseOptions(given: readonly string[]): Map<string, string> {
  return new Map(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at > 0) return [text.slice(0, at), text.slice(at + 1)] as const;
      throw new UscopeError('CLI_USAGE', `--opt "${text}" is not of the form NAME=VALUE`);
    }),
  );
}
