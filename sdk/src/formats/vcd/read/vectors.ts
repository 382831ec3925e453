/** Vectors that simulators write bit by bit, a `$var` each: `$var wire 1 ! data [3] $end`. */
import type { VcdSignal } from './header.js';

const BIT = /^(.+)\[(\d{1,6})\]$/;

/** Bits of one name, in the order of the file. */
interface Found {
  readonly indices: number[];
  readonly bits: VcdSignal[];
}

/**
 * A signal for each name of which all bits are there. They are numbered as names are: those whose bits have the same codes are one net.
 * Simulators write the leftmost bit first. So where some vector of the file has falling indices, one with rising indices is declared so:
 * `[0:7]`. Where none has, the index is the weight.
 */
export function joinBits(signals: readonly VcdSignal[]): VcdSignal[] {
  const found = bitsByName(signals);
  const isLeftFirst = [...found.values()].some(
    ({ indices }) => indices.length > 1 && indices[0] > indices[1],
  );
  const codes = new Map<string, number>();
  const vectors: VcdSignal[] = [];
  for (const [path, { indices, bits }] of found) {
    const isRising = indices[0] < (indices[1] ?? 0);
    const step = isRising ? 1 : -1;
    if (indices.length < 2 || indices.some((index, n) => index !== indices[0] + n * step)) continue;
    const isAscending = isRising && isLeftFirst;
    const fromLow = isRising && !isAscending ? bits : bits.reverse();
    const net = fromLow.map(({ code }) => code).join(' ');
    const code = codes.get(net) ?? -1 - codes.size;
    codes.set(net, code);
    vectors.push({
      ...{ path, kind: bits[0].kind, width: bits.length, code, isAscending, bits: fromLow },
      lsb: isAscending ? (indices.at(-1) as number) : Math.min(indices[0], indices.at(-1) as number),
    });
  }
  return vectors;
}

function bitsByName(signals: readonly VcdSignal[]): Map<string, Found> {
  const found = new Map<string, Found>();
  const seen = new Set<string>();
  for (const signal of signals) {
    if (signal.width !== 1 || seen.has(signal.path)) continue;
    seen.add(signal.path);
    const [, path, index] = BIT.exec(signal.path) ?? [];
    if (path === undefined) continue;
    const known = found.get(path);
    if (known) {
      known.indices.push(Number(index));
      known.bits.push(signal);
    } else found.set(path, { indices: [Number(index)], bits: [signal] });
  }
  // A name that is declared as a whole is that.
  for (const { path } of signals) found.delete(path);
  return found;
}
