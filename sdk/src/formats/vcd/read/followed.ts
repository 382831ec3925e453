/** What a pass over the changes of a waveform begins with: which signals are followed, and the bytes in pieces. */
import { isUscopeError } from '../../../base/errors.js';
import { CodeTable, NOT_FOLLOWED } from './codes.js';
import { isReal, isText, type VcdHeader, type VcdSignal } from './header.js';
import { type BitPlace, SignalStore } from './signal-store.js';

/** Codes of a header and what each is to a reader that follows `followed`. */
export function codeTable(header: VcdHeader, followed: readonly VcdSignal[]): CodeTable {
  const indices = new Map(withBits(followed).map(({ code }, index) => [code, index]));
  return new CodeTable(header.signals.map(({ code }) => [code, indices.get(code) ?? NOT_FOLLOWED]));
}

export function storeFor(followed: readonly VcdSignal[]): SignalStore {
  const signals = withBits(followed);
  const indices = new Map(signals.map(({ code }, index) => [code, index]));
  const places = new Map<number, BitPlace[]>();
  followed.forEach(({ bits = [] }, vector) => {
    bits.forEach(({ code }, bit) => {
      const signal = indices.get(code) as number;
      const known = places.get(signal);
      if (known) known.push({ vector, bit });
      else places.set(signal, [{ vector, bit }]);
    });
  });
  return new SignalStore(
    signals.map((signal) => (isReal(signal) || isText(signal) ? 0 : signal.width)),
    places,
  );
}

/** After the signals that are followed: the bits of those that the waveform has bit by bit. */
function withBits(followed: readonly VcdSignal[]): readonly VcdSignal[] {
  const codes = new Set(followed.map(({ code }) => code));
  const more = new Map<number, VcdSignal>();
  for (const { bits = [] } of followed)
    for (const bit of bits) if (!codes.has(bit.code)) more.set(bit.code, bit);
  return more.size === 0 ? followed : [...followed, ...more.values()];
}

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
