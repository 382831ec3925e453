/** Transactions in flight in a window of time, of all networks, with everything known about them. */
import { findNetworks, transactions as follow, type NocNetwork, type Transaction } from 'uscope/noc';
import { grouped } from '../../model/ticks.js';
import {
  MAX_TRANSACTIONS,
  type TransactionAnswer,
  type TransactionArgs,
  type TransactionList,
} from '../../model/transactions.js';
import type { Question } from './question.js';

/** Segments read before and after the window, for births and ends. */
const NEAR = 4;
const NO_STAGE = 255;

export const transactions: Question<TransactionArgs, TransactionAnswer> = async (args, context, signal) => {
  const { trace, periodPs } = context;
  const networks = findNetworks(trace).filter(({ transactions: known }) => known !== null);
  const found: { network: number; one: Transaction }[] = [];
  const range = { from: BigInt(args.from) * periodPs, to: BigInt(args.to) * periodPs };
  for (const [network, of] of networks.entries()) {
    for await (const one of follow(trace, of, range, { lookback: NEAR, lookahead: NEAR })) {
      signal.throwIfAborted();
      found.push({ network, one });
      if (found.length > MAX_TRANSACTIONS) return { args, list: null };
    }
    // Cancelling comes as a message.
    await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
  }
  return { args, list: listOf(found, networks, Number(periodPs)) };
};

function listOf(
  found: readonly { network: number; one: Transaction }[],
  networks: readonly NocNetwork[],
  period: number,
): TransactionList {
  const cycleOf = (ps: bigint): number => Number(ps) / period;
  const orNaN = (ps: bigint | null): number => (ps === null ? Number.NaN : cycleOf(ps));
  const stages = found.flatMap(({ one }) => one.stages);
  const stageStart = new Uint32Array(found.length + 1);
  found.forEach(({ one }, index) => {
    stageStart[index + 1] = stageStart[index]! + one.stages.length;
  });
  return {
    networks: networks.map(({ name, stages: names }) => ({ name, stages: names })),
    network: Uint8Array.from(found, ({ network }) => network),
    id: Uint32Array.from(found, ({ one }) => one.id),
    port: Int32Array.from(found, ({ one }) => one.srcPort ?? -1),
    birth: Float64Array.from(found, ({ one }) => orNaN(one.birthPs)),
    end: Float64Array.from(found, ({ one }) => orNaN(one.endPs)),
    continuesAs: Int32Array.from(found, ({ one }) => nextOf(one, found)),
    isLost: Uint8Array.from(found, ({ one }) => Number(one.end === 'lost')),
    stageStart,
    stage: Uint8Array.from(stages, ({ stage }) => (stage < 0 || stage >= NO_STAGE ? NO_STAGE : stage)),
    stageCycle: Float64Array.from(stages, ({ timePs }) => cycleOf(timePs)),
    labels: found.map(({ one }) => labelOf(one)),
    details: found.map(({ one }) => linesOf(one, (ps) => grouped(Math.floor(cycleOf(ps))))),
  };
}

const END_TEXTS: Readonly<Record<Transaction['end'], string>> = {
  completed: 'completed',
  in_flight: 'in flight',
  unknown: 'not followed further',
  lost: 'lost',
};

/** Where the first handoff of a transaction leads. */
function nextOf(of: Transaction, found: readonly { one: Transaction }[]): number {
  const handoff = of.handoffs.find(({ direction }) => direction === 'to');
  if (!handoff) return -1;
  const { network, id, birthPs } = handoff;
  return found.findIndex(
    ({ one }) => one.network === network && one.id === id && (birthPs === null || one.birthPs === birthPs),
  );
}

const hex = (value: bigint): string => `0x${value.toString(16)}`;

const labelOf = ({ opcode, addr, id }: Transaction): string =>
  [opcode ?? `id ${id}`, addr === null ? '' : hex(addr)].filter((part) => part !== '').join(' ');

/** Everything that is known, a line each. */
function linesOf(one: Transaction, at: (ps: bigint) => string): string[] {
  const { birthPs, endPs, stages, beats, retries, timeouts, arbitrations, annotations, handoffs } = one;
  const life = birthPs !== null && endPs !== null ? `, ${at(endPs - birthPs)} cycles` : '';
  const facts = [
    ['len', one.len],
    ['size', one.size],
    ['from port', one.srcPort],
    ['to port', one.dstPort],
  ].flatMap(([name, value]) => (value === null ? [] : [`${name} ${value}`]));
  return [
    `${labelOf(one)}  (${one.network}, id ${one.id})`,
    ...(facts.length > 0 ? [facts.join(', ')] : []),
    `${birthPs === null ? 'born before what was read' : `born in ${at(birthPs)}`}, ${END_TEXTS[one.end]}${endPs === null ? '' : ` in ${at(endPs)}`}${life}`,
    ...stages.map(({ name, timePs }, index) => {
      const until = stages[index + 1]?.timePs ?? endPs;
      return `${name}: ${at(timePs)}${until === null ? '' : `, ${at(until - timePs)} cycles`}`;
    }),
    ...(beats.length > 0
      ? [`${beats.length} beats: ${at(beats[0]!.timePs)} to ${at(beats.at(-1)!.timePs)}`]
      : []),
    ...retries.map(({ timePs, reason }) => `retry in ${at(timePs)}${reason === null ? '' : `: ${reason}`}`),
    ...timeouts.map((timePs) => `timeout in ${at(timePs)}`),
    ...arbitrations.map(
      ({ timePs, port }) => `won arbitration in ${at(timePs)}${port === null ? '' : `, port ${port}`}`,
    ),
    ...handoffs.map(
      ({ timePs, direction, network, id }) =>
        `${direction === 'to' ? 'continues as' : 'came from'} ${network ?? 'another network'} id ${id} in ${at(timePs)}`,
    ),
    ...annotations.map(({ text }) => text),
    ...(one.isAbridged ? ['more happened than is listed'] : []),
  ];
}
