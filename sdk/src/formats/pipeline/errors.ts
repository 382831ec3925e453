/** What can be wrong with a log of instructions, in words. */
import { UscopeError } from '../../base/errors.js';
import { MAX_STRING_BYTES } from '../../format/record.js';

/** Instructions in flight that a trace follows. */
export const MAX_IN_FLIGHT = 65_535;

export const longString = (size: number): UscopeError =>
  new UscopeError('OP_STRING', `a string of ${size} bytes; at most ${MAX_STRING_BYTES} are allowed`);

/** @param slots instructions in flight that the log has been found to have */
export function tooManyInFlight(slots: number): UscopeError {
  if (slots < MAX_IN_FLIGHT)
    return new UscopeError(
      'CONVERT_SOURCE',
      'the log changed while it was read: more instructions are in flight than before',
    );
  return new UscopeError(
    'CONVERT_UNSUPPORTED',
    `more than ${MAX_IN_FLIGHT} instructions are in flight at once; a trace follows ${MAX_IN_FLIGHT}`,
  );
}
