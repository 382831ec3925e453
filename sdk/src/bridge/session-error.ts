/** What goes wrong in a session, as its client is told. */
import { UscopeError } from '../base/errors.js';

export function sequenceError(detail: string): UscopeError {
  return new UscopeError('BRIDGE_SEQUENCE', `${detail}; open the trace again and resend`);
}

/** Whatever a record violates, for the client it is one code: its records are broken. */
export function asUscopeError(error: unknown): UscopeError {
  if (!(error instanceof UscopeError)) {
    return new UscopeError('BRIDGE_INTERNAL', String(error), {}, { cause: error });
  }
  if (!error.code.startsWith('OP_')) return error;
  return new UscopeError('BRIDGE_RECORD', `${error.code}: ${error.detail}`, error.place, { cause: error });
}
