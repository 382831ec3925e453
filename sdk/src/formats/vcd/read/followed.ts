/** What a pass over the changes of a waveform begins with: which signals are followed, and the bytes in pieces. */
import { isUscopeError } from '../../../base/errors.js';
import { CodeTable, NOT_FOLLOWED } from './codes.js';
import type { VcdHeader, VcdSignal } from './header.js';
import { SignalStore } from './signal-store.js';

/** Codes of a header and what each is to a reader that follows `followed`. */
export function codeTable(header: VcdHeader, followed: readonly VcdSignal[]): CodeTable {
  const indices = new Map(followed.map(({ code }, index) => [code, index]));
  return new CodeTable(header.signals.map(({ code }) => [code, indices.get(code) ?? NOT_FOLLOWED]));
}

export const storeFor = (followed: readonly VcdSignal[]): SignalStore =>
  new SignalStore(followed.map(({ width }) => width));

/** The bytes, null at the end, or why packed bytes end early. */
export async function nextPiece(pieces: AsyncIterator<Uint8Array>): Promise<Uint8Array | string | null> {
  try {
    const { value, done } = await pieces.next();
    return done ? null : value;
  } catch (error) {
    if (isUscopeError(error) && error.code === 'CONVERT_TRUNCATED') return error.message;
    throw error;
  }
}
