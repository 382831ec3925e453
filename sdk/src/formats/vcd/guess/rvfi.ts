/** RVFI pins in a waveform: by their names, by their widths, and by whether they are driven. */
import type { VcdSignal } from '../read/header.js';
import type { Activity } from './activity.js';
import type { Scope } from './scopes.js';

const VALID = /^(.*rvfi.*?)valid$/i;
const INSN_BITS = 32;
const ORDER_BITS = 64;
const MAX_CHANNELS = 16;

export interface GuessedRvfi {
  readonly scope: string;
  readonly prefix: string;
  readonly xlen: number;
  readonly code: number;
}

/** Signals that may be the valid of one. */
export const rvfiValids = (scopes: readonly Scope[]): VcdSignal[] =>
  scopes.flatMap(({ signals }) =>
    [...signals].filter(([name]) => VALID.test(name)).map(([, signal]) => signal),
  );

/** Each once, where it is outermost: the ports of a core are nets of its surroundings, too. */
export function guessRvfi(scopes: readonly Scope[], activity: ReadonlyMap<number, Activity>): GuessedRvfi[] {
  const found = new Map<number, GuessedRvfi>();
  for (const { path, signals } of scopes) {
    for (const [name, valid] of signals) {
      const [, prefix] = VALID.exec(name) ?? [];
      if (prefix === undefined || !activity.get(valid.code)?.wasSet) continue;
      const xlen = xlenOf(signals, prefix, valid.width);
      const known = found.get(valid.code);
      if (xlen === 0 || (known && known.scope.length <= path.length)) continue;
      found.set(valid.code, { scope: path, prefix, xlen, code: valid.code });
    }
  }
  return [...found.values()];
}

/** 0: the pins that a core needs are not all there, or have other widths. */
function xlenOf(signals: ReadonlyMap<string, VcdSignal>, prefix: string, channels: number): number {
  const width = (pin: string): number => signals.get(`${prefix}${pin}`)?.width ?? 0;
  const xlen = width('pc_rdata') / channels;
  const fits =
    channels <= MAX_CHANNELS &&
    width('insn') === channels * INSN_BITS &&
    width('order') === channels * ORDER_BITS;
  return fits && (xlen === 32 || xlen === 64) ? xlen : 0;
}
