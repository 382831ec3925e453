/** What a caller should know and need not act on: a warning of the process, whose code programs can look for. */
import type { UscopeError } from '../base/errors.js';

/** The name of such warnings. */
export const NOTE = 'UscopeNote';

export function note({ code, message }: UscopeError): void {
  process.emitWarning(message, { type: NOTE, code });
}
