/** Signals of a waveform by what a map calls them. */
import { UscopeError } from '../../../base/errors.js';
import { isReal, isText, type VcdSignal } from '../read/header.js';

/** A part of a signal. */
export interface SignalPart {
  readonly signal: VcdSignal;
  /** Bit of the signal's value that is bit 0 of the part. */
  readonly from: number;
  readonly width: number;
  readonly kind: 'bits' | 'real' | 'text';
}

/** More names in a message help nobody. */
const SHOWN = 4;

export class SignalNames {
  private readonly byPath = new Map<string, VcdSignal>();
  /** By what follows the last dot. */
  private readonly byName = new Map<string, VcdSignal[]>();

  constructor(readonly signals: readonly VcdSignal[]) {
    for (const signal of signals) {
      if (this.byPath.has(signal.path)) continue;
      this.byPath.set(signal.path, signal);
      const name = lastName(signal.path);
      const same = this.byName.get(name);
      if (same) same.push(signal);
      else this.byName.set(name, [signal]);
    }
  }

  /**
   * `name`, perhaps in quotation marks, in the scope `within`, as a whole path, or as the end of one path only; `name[7:0]` and `name[3]` are parts of a vector.
   * @throws UscopeError CONVERT_OPTION
   */
  find(name: string, within: string): SignalPart {
    const found = this.look(name, within);
    if (found) return found;
    throw new UscopeError(
      'CONVERT_OPTION',
      `the waveform has no signal "${name}"${within && ` in ${within}`}${this.hint(name)}`,
    );
  }

  look(written: string, within: string): SignalPart | null {
    const name = unquoted(written);
    // Vivado ends escaped names with a backslash.
    const whole = this.signal(name, within) ?? this.signal(`${name}\\`, within);
    if (whole) return partOf(whole);
    const [, base, left, right = left] = /^(.+?)\[(\d+)(?::(\d+))?\]$/.exec(name) ?? [];
    const vector = base === undefined ? null : this.signal(base, within);
    return vector ? slice(vector, name, Number(left), Number(right)) : null;
  }

  /**
   * The signals that `pattern` names with a number instead of `*`, by number: in `within`, as whole paths, or in the only scope that has such.
   * @throws UscopeError CONVERT_OPTION
   */
  numbered(pattern: string, within: string): Map<number, SignalPart> {
    const [before, after] = splitAtStar(unquoted(pattern));
    const byPrefix = new Map<string, Map<number, SignalPart>>();
    for (const signal of this.byPath.values()) {
      const match = numberBetween(signal.path, before, after);
      if (!match) continue;
      const known = byPrefix.get(match.prefix);
      if (known) known.set(match.number, partOf(signal));
      else byPrefix.set(match.prefix, new Map([[match.number, partOf(signal)]]));
    }
    const exact = (within === '' ? undefined : byPrefix.get(`${within}.`)) ?? byPrefix.get('');
    if (exact) return exact;
    if (byPrefix.size <= 1) return [...byPrefix.values()][0] ?? new Map();
    const scopes = [...byPrefix.keys()].slice(0, SHOWN).join(', ');
    throw new UscopeError(
      'CONVERT_OPTION',
      `"${pattern}" is in several scopes: ${scopes}; write more of the path`,
    );
  }

  private signal(name: string, within: string): VcdSignal | null {
    const direct =
      (within === '' ? undefined : this.byPath.get(`${within}.${name}`)) ?? this.byPath.get(name);
    if (direct) return direct;
    const ends = (this.byName.get(lastName(name)) ?? []).filter(({ path }) => path.endsWith(`.${name}`));
    const inside = within === '' ? ends : ends.filter(({ path }) => path.startsWith(`${within}.`));
    const candidates = inside.length > 0 ? inside : ends;
    // Names of one net are one signal.
    if (new Set(candidates.map(({ code }) => code)).size <= 1) return candidates[0] ?? null;
    const paths = candidates
      .slice(0, SHOWN)
      .map(({ path }) => path)
      .join(', ');
    throw new UscopeError(
      'CONVERT_OPTION',
      `"${name}" is the end of several names: ${paths}${candidates.length > SHOWN ? ', …' : ''}; write more of the path`,
    );
  }

  private hint(name: string): string {
    const bare = lastName(unquoted(name)).replace(/\[.*$/, '').toLowerCase();
    const near = [...this.byPath.keys()]
      .filter((path) => lastName(path).toLowerCase().includes(bare))
      .slice(0, SHOWN);
    return near.length === 0 || bare === '' ? '; `uscope info` lists them' : `; there is ${near.join(', ')}`;
  }
}

/** `"a/b"[3:0]`: any name may have quotation marks, and one with other characters than letters needs them in a condition. */
const unquoted = (name: string): string => name.replace(/^(["'])(.+)\1(?=\[[^\]]*\]$|$)/, '$2');

function lastName(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

function partOf(signal: VcdSignal): SignalPart {
  const kind = isReal(signal) ? 'real' : isText(signal) ? 'text' : 'bits';
  return { signal, from: 0, width: signal.width, kind };
}

function slice(signal: VcdSignal, name: string, left: number, right: number): SignalPart {
  if (isReal(signal) || isText(signal))
    throw new UscopeError('CONVERT_OPTION', `${signal.path} is a ${signal.kind}, which has no bits`);
  const place = (index: number): number => (signal.isAscending ? signal.lsb - index : index - signal.lsb);
  const from = Math.min(place(left), place(right));
  const to = Math.max(place(left), place(right));
  if (from < 0 || to >= signal.width)
    throw new UscopeError(
      'CONVERT_OPTION',
      `"${name}" reaches beyond ${signal.path}, which has ${signal.width} bits`,
    );
  return { signal, from, width: to - from + 1, kind: 'bits' };
}

/** @throws UscopeError CONVERT_OPTION */
function splitAtStar(pattern: string): [string, string] {
  const at = pattern.indexOf('*');
  if (at < 0 || pattern.includes('*', at + 1))
    throw new UscopeError('CONVERT_OPTION', `"${pattern}" needs one * where the number is, such as mem[*]`);
  return [pattern.slice(0, at), pattern.slice(at + 1)];
}

function numberBetween(
  path: string,
  before: string,
  after: string,
): { prefix: string; number: number } | null {
  if (!path.endsWith(after)) return null;
  const rest = path.slice(0, path.length - after.length);
  const [digits] = /\d{1,6}$/.exec(rest) ?? [''];
  const head = rest.slice(0, rest.length - digits.length);
  if (digits === '' || !head.endsWith(before)) return null;
  const prefix = head.slice(0, head.length - before.length);
  return prefix === '' || prefix.endsWith('.') ? { prefix, number: Number(digits) } : null;
}
