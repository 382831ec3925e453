/** An error of a session, as its client gets it. */
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
