/** Signals of a waveform by scope. */
import type { VcdSignal } from '../read/header.js';

export interface Scope {
  readonly path: string;
  /** By the name in the scope; an index that is part of the name is, too. */
  readonly signals: ReadonlyMap<string, VcdSignal>;
}

export function scopesOf(signals: readonly VcdSignal[]): Scope[] {
  const scopes = new Map<string, Map<string, VcdSignal>>();
  for (const signal of signals) {
    const at = signal.path.lastIndexOf('.');
    const path = at < 0 ? '' : signal.path.slice(0, at);
    let members = scopes.get(path);
    if (!members) {
      members = new Map();
      scopes.set(path, members);
    }
    members.set(signal.path.slice(at + 1), signal);
  }
  return [...scopes].map(([path, members]) => ({ path, signals: members }));
}
