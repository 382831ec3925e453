/**
 * Whose handoff it was: `txn_handoff` holds two ids and no scope. Both transactions are in flight, so networks in which the id is free are
 * out; of those left the pair is taken that fits best. Where two fit equally well nothing is made up.
 */
import type { LiveTransaction } from './live-transaction.js';

/** Pairs looked at for one event; more networks than that share no handoff event. */
const MAX_PAIRS = 4096;

export interface HandoffMatch {
  readonly from: LiveTransaction | null;
  readonly to: LiveTransaction | null;
}

/** @param addrOf address of a transaction, undefined where it has none */
export function matchHandoff(
  sources: readonly LiveTransaction[],
  targets: readonly LiveTransaction[],
  timePs: bigint,
  addrOf: (transaction: LiveTransaction) => bigint | undefined,
): HandoffMatch {
  if (sources.length === 0 || targets.length === 0) {
    return { from: sources.length === 1 ? sources[0]! : null, to: targets.length === 1 ? targets[0]! : null };
  }
  if (sources.length * targets.length > MAX_PAIRS) return { from: null, to: null };
  let best = Number.NEGATIVE_INFINITY;
  let found: { from: LiveTransaction; to: LiveTransaction }[] = [];
  for (const from of sources) {
    for (const to of targets) {
      if (from === to) continue;
      const fit = fitOf(from, to, timePs, addrOf);
      if (fit > best) found = [];
      if (fit >= best) found.push({ from, to });
      best = Math.max(best, fit);
    }
  }
  return { from: onlyOne(found.map(({ from }) => from)), to: onlyOne(found.map(({ to }) => to)) };
}

/** Sums of powers of two: each reason outweighs all that are below it. */
function fitOf(
  from: LiveTransaction,
  to: LiveTransaction,
  timePs: bigint,
  addrOf: (transaction: LiveTransaction) => bigint | undefined,
): number {
  const addr = addrOf(from);
  const reasons = [
    from.network !== to.network,
    // It continues as something that has not been continued as by another, and has not continued before.
    !to.handoffs.some(({ direction }) => direction === 'from'),
    !from.handoffs.some(({ direction }) => direction === 'to'),
    addr !== undefined && addr === addrOf(to),
    // Most are handed on to one that was begun for that.
    to.birthPs === timePs,
    from.birthPs !== timePs,
  ];
  return reasons.reduce((sum, holds) => sum * 2 + Number(holds), 0);
}

function onlyOne<T>(all: readonly T[]): T | null {
  const distinct = new Set(all);
  const [first = null] = distinct;
  return distinct.size === 1 ? first : null;
}
