/** Errors as they travel: the code by itself, and what and where in one text. */
import { ERROR_CODES } from '../../base/codes.js';
import { UscopeError } from '../../base/errors.js';
import { memoryError } from './session-error.js';

/** A schema may have many problems; a message has its limits. */
const MAX_TEXT = 8000;

export interface WireError {
  readonly code: string;
  readonly msg: string;
}

export function wireError(thrown: unknown): WireError {
  const error = memoryError(thrown) ?? thrown;
  const known = error instanceof UscopeError && Object.hasOwn(ERROR_CODES, error.code);
  if (!known) return { code: 'BRIDGE_INTERNAL', msg: String(error).slice(0, MAX_TEXT) };
  return { code: error.code, msg: error.message.replace(`${error.code}: `, '').slice(0, MAX_TEXT) };
}
