/** What a caller should know and need not act on: a warning of the process, whose code programs can look for. */
import { NOTE, type UscopeError } from '../base/errors.js';

export function note({ code, message }: UscopeError): void {
  process.emitWarning(message, { type: NOTE, code });
}
