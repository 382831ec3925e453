/** The way of a request: from the instruction that asks, through the network, to memory and back. */
import type { RowDetails, StageSpan } from '../model/row.js';
import type { TransactionList } from '../model/transactions.js';

/** One step of the way, in cycles of the network's axis or of the core's. */
export interface Step {
  /** `core2: lw a3,0(s1)`, `noc port 2: read_line 0x…`, `noc/memory: …` */
  readonly what: string;
  readonly place: 'core' | 'network';
  readonly fromPs: number;
  readonly toPs: number;
}

/** The stage in which an instruction waited longest. */
export function longestStay({ stages, endCycle }: RowDetails): StageSpan | null {
  const lasted = ({ from, to }: StageSpan): number => (to ?? endCycle ?? from) - from;
  return [...stages].sort((a, b) => lasted(b) - lasted(a))[0] ?? null;
}

/** The transaction of a port that was longest in flight in `[fromPs, toPs)`; null: none was. */
export function requestIn(
  list: TransactionList,
  port: number,
  fromPs: number,
  toPs: number,
  periodPs: number,
): number | null {
  let best: number | null = null;
  let longest = 0;
  for (let index = 0; index < list.port.length; index++) {
    if (list.port[index] !== port || isInner(list, index)) continue;
    const shared =
      Math.min(list.end[index]! * periodPs, toPs) - Math.max(list.birth[index]! * periodPs, fromPs);
    if (shared > longest) [best, longest] = [index, shared];
  }
  return best;
}

/** Another one continues as it. */
const isInner = (list: TransactionList, index: number): boolean => list.continuesAs.includes(index);

/** The steps of a request: itself and what it continues as, each at its time; then the way back, when the last of them has ended. */
export function stepsOf(list: TransactionList, request: number, periodPs: number): Step[] {
  const steps: Step[] = [];
  const seen = new Set<number>();
  for (let at = request; at >= 0 && !seen.has(at); at = list.continuesAs[at]!) {
    seen.add(at);
    steps.push(stepOf(list, at, periodPs));
  }
  const [first, last] = [steps[0], steps.at(-1)];
  if (first && last && first !== last && first.toPs > last.toPs)
    steps.push({ ...first, what: `${first.what}, the answer`, fromPs: last.toPs });
  return steps;
}

function stepOf(list: TransactionList, index: number, periodPs: number): Step {
  const { name } = list.networks[list.network[index]!]!;
  const port = list.port[index]!;
  const place = isInner(list, index) || port < 0 ? name : `${name} port ${port}`;
  const birth = list.birth[index]!;
  const end = list.end[index]!;
  return {
    what: `${place}: ${list.labels[index]}`,
    place: 'network',
    fromPs: birth * periodPs,
    toPs: (Number.isNaN(end) ? birth + 1 : end) * periodPs,
  };
}
