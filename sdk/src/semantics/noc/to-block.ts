/** Tracked transactions to columns. */
import { delaysOf, inOneBuffer, valuesOf } from '../blocks/columns.js';
import type { LiveNumber, LiveTransaction } from './live-transaction.js';
import type { NocNetwork, NocTransactions } from './networks.js';
import { TransactionEnd } from './transaction.js';
import {
  type TransactionBlock,
  TransactionBlockEnd,
  TransactionField,
  TransactionFlag,
  type TransactionNumbers,
  type TransactionSide,
  UNKNOWN_PARTNER,
} from './transaction-block.js';

const ENDS: Readonly<Record<TransactionEnd, number>> = {
  [TransactionEnd.IN_FLIGHT]: TransactionBlockEnd.IN_FLIGHT,
  [TransactionEnd.COMPLETED]: TransactionBlockEnd.COMPLETED,
  [TransactionEnd.LOST]: TransactionBlockEnd.LOST,
  [TransactionEnd.UNKNOWN]: TransactionBlockEnd.UNKNOWN,
};

/** @param tracked of one network @param reachesEnd they were followed to the end of the trace */
export function toTransactionBlock(
  tracked: readonly LiveTransaction[],
  network: NocNetwork,
  index: number,
  reachesEnd: boolean,
): TransactionBlock {
  const basePs = tracked.reduce(earliest, MAX_U64);
  const catalog = network.transactions;
  const after = (time: bigint | null): number => (time === null ? -1 : Number(time - basePs));
  return inOneBuffer({
    network: index,
    basePs,
    count: tracked.length,
    birth: Float64Array.from(tracked, ({ birthPs }) => after(birthPs)),
    end: Float64Array.from(tracked, ({ endPs }) => after(endPs)),
    flags: Uint8Array.from(tracked, (one) => flagsOf(one, reachesEnd)),
    id: valuesOf(tracked.map(({ id }) => id)),
    known: Uint8Array.from(tracked, (one) => knownOf(one, catalog)),
    opcode: fieldOf(tracked, catalog?.opcodeField),
    ...addressesOf(tracked, catalog?.addrField),
    len: fieldOf(tracked, catalog?.lenField),
    size: fieldOf(tracked, catalog?.sizeField),
    srcPort: fieldOf(tracked, catalog?.srcPortField),
    dstPort: fieldOf(tracked, catalog?.dstPortField),
    stages: side(
      tracked,
      (one) => one.stages,
      after,
      (all) => ({
        stage: Int16Array.from(all, ({ value }) => network.stageOf(value)),
        value: delaysOf(all.map(({ value }) => value)),
      }),
    ),
    beats: side(tracked, (one) => one.beats, after, numbersOf),
    retries: side(
      tracked,
      (one) => one.retries,
      after,
      (all) => ({
        reason: Float64Array.from(all, ({ reason }) => reason ?? -1),
      }),
    ),
    timeouts: side(
      tracked,
      (one) => one.timeouts,
      after,
      () => ({}),
    ),
    arbitrations: side(tracked, (one) => one.arbitrations, after, numbersOf),
    annotations: side(
      tracked,
      (one) => one.annotations,
      after,
      (all) => ({
        string: valuesOf(all.map(({ string }) => string)),
      }),
    ),
    handoffs: side(
      tracked,
      (one) => one.handoffs,
      after,
      (all) => ({
        isTo: Uint8Array.from(all, ({ direction }) => (direction === 'to' ? 1 : 0)),
        network: Int32Array.from(all, ({ partner }) => partner?.network ?? UNKNOWN_PARTNER),
        id: valuesOf(all.map(({ id }) => id)),
        birth: Float64Array.from(all, ({ partner }) => partnerBirth(partner, basePs)),
      }),
    ),
  });
}

const MAX_U64 = (1n << 64n) - 1n;

/** The first time known of a transaction or a partner, or the one before. */
function earliest(before: bigint, one: LiveTransaction): bigint {
  const { birthPs, endPs, stages, beats, retries, timeouts, arbitrations, annotations, handoffs } = one;
  const lists = [stages, beats, retries, timeouts, arbitrations, annotations, handoffs];
  const own = birthPs === null ? [endPs, ...lists.map(([first]) => first?.timePs)] : [birthPs];
  const all = [...own, ...handoffs.map(({ partner }) => partner?.birthPs)];
  return all.reduce<bigint>((least, time) => (time != null && time < least ? time : least), before);
}

/** A birth before `basePs` would look like one that is not known: `earliest` has seen it. */
function partnerBirth(partner: LiveTransaction | null, basePs: bigint): number {
  return partner?.birthPs == null ? UNKNOWN_PARTNER : Number(partner.birthPs - basePs);
}

function flagsOf({ end, endPs, birthPs, isAbridged }: LiveTransaction, reachesEnd: boolean): number {
  const open = reachesEnd ? TransactionBlockEnd.IN_FLIGHT : TransactionBlockEnd.UNKNOWN;
  return (
    (endPs === null ? open : ENDS[end]) |
    (isAbridged ? TransactionFlag.ABRIDGED : 0) |
    (birthPs === null ? TransactionFlag.BIRTH_UNKNOWN : 0)
  );
}

function knownOf({ values }: LiveTransaction, catalog: NocTransactions | null): number {
  if (!catalog) return 0;
  const bit = (field: number, mask: number): number => (values[field] === undefined ? 0 : mask);
  return (
    bit(catalog.opcodeField, TransactionField.OPCODE) |
    bit(catalog.addrField, TransactionField.ADDR) |
    bit(catalog.lenField, TransactionField.LEN) |
    bit(catalog.sizeField, TransactionField.SIZE) |
    bit(catalog.srcPortField, TransactionField.SRC_PORT) |
    bit(catalog.dstPortField, TransactionField.DST_PORT)
  );
}

function fieldOf(tracked: readonly LiveTransaction[], field = -1) {
  return delaysOf(tracked.map(({ values }) => Number(values[field] ?? 0n)));
}

function addressesOf(tracked: readonly LiveTransaction[], field = -1) {
  const addresses = tracked.map(({ values }) => values[field] ?? 0n);
  return {
    addrLo: Uint32Array.from(addresses, (one) => Number(one & 0xffff_ffffn)),
    addrHi: valuesOf(addresses.map((one) => Number(one >> 32n))),
  };
}

function numbersOf(all: readonly LiveNumber[]): Omit<TransactionNumbers, keyof TransactionSide> {
  return {
    isKnown: Uint8Array.from(all, ({ number }) => (number === null ? 0 : 1)),
    lo: Uint32Array.from(all, ({ number }) => Number((number ?? 0n) & 0xffff_ffffn)),
    hi: valuesOf(all.map(({ number }) => Number((number ?? 0n) >> 32n))),
  };
}

/** The entries of all transactions, one after the other, with the row of each. */
function side<T extends { readonly timePs: bigint }, C extends object>(
  tracked: readonly LiveTransaction[],
  entriesOf: (one: LiveTransaction) => readonly T[],
  after: (time: bigint) => number,
  columnsOf: (all: readonly T[]) => C,
): TransactionSide & C {
  const all = tracked.flatMap((one) => entriesOf(one));
  return {
    row: valuesOf(tracked.flatMap((one, row) => entriesOf(one).map(() => row))),
    time: Float64Array.from(all, ({ timePs }) => after(timePs)),
    ...columnsOf(all),
  };
}
