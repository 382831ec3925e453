/** An error of a session, as its client gets it. */
import { ERROR_CODES } from '../../base/codes.js';
import { UscopeError } from '../../base/errors.js';

export function sequenceError(detail: string): UscopeError {
  return new UscopeError('BRIDGE_SEQUENCE', `${detail}; open the trace again and resend`);
}

/** Whatever a record violates, for the client it is one code: its records are broken. */
export function asUscopeError(error: unknown): UscopeError {
  const noMemory = memoryError(error);
  if (noMemory) return noMemory;
  if (!(error instanceof UscopeError)) {
    return new UscopeError('BRIDGE_INTERNAL', String(error), {}, { cause: error });
  }
  if (!error.code.startsWith('OP_')) return error;
  return new UscopeError('BRIDGE_RECORD', `${error.code}: ${error.detail}`, error.place, { cause: error });
}

/** null: something else than an allocation that failed, of an array, of WebAssembly's memory, or in the addon. */
export function memoryError(error: unknown): UscopeError | null {
  if (!(error instanceof Error) || error instanceof UscopeError) return null;
  if (!/allocation failed|out of memory|cannot allocate|ENOMEM/i.test(error.message)) return null;
  const detail = `the machine has no memory for this trace (${error.message}); reduce the slots or fields of its schema, or lower --max-memory`;
  return new UscopeError('BRIDGE_NO_MEMORY', detail, {}, { cause: error });
}

/** A schema may have many problems; a message has its limits. */
const MAX_TEXT = 8000;

export interface WireError {
  readonly code: string;
  readonly msg: string;
}

/** An error as it travels: the code by itself, and what and where in one text. */
export function wireError(thrown: unknown): WireError {
  const error = memoryError(thrown) ?? thrown;
  const known = error instanceof UscopeError && Object.hasOwn(ERROR_CODES, error.code);
  if (!known) return { code: 'BRIDGE_INTERNAL', msg: String(error).slice(0, MAX_TEXT) };
  return { code: error.code, msg: error.message.replace(`${error.code}: `, '').slice(0, MAX_TEXT) };
}

/** What the daemon reported, as an error here. */
export function remoteError({ code, msg }: WireError): UscopeError {
  return new UscopeError(code as UscopeError['code'], msg);
}
