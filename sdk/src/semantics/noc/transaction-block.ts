/**
 * Transactions as columns: typed arrays instead of an object per transaction. All arrays of a block lie in one `ArrayBuffer`, so that a block moves between
 * workers without being copied: `postMessage(block, transactionTransferList(block))`.
 */
import type { Values } from '../blocks/block.js';

/** Whole numbers: in the narrowest array that holds them all, floating point from 2^32 on. */
export type Numbers = Values | Float64Array;

/** How a transaction left: the two low bits of its flags. See `TransactionEnd`. */
export const TransactionBlockEnd = { IN_FLIGHT: 0, COMPLETED: 1, LOST: 2, UNKNOWN: 3 } as const;

/** Bits of `TransactionBlock.flags`. */
export const TransactionFlag = {
  /** The two low bits are a `TransactionBlockEnd`. */
  END_MASK: 3,
  /** More happened to it than is listed: see `Transaction.isAbridged`. */
  ABRIDGED: 4,
  /** Born before what was looked at: `birth` says nothing. */
  BIRTH_UNKNOWN: 8,
} as const;

/** Bits of `TransactionBlock.known`: which fields the trace says of a transaction. */
export const TransactionField = { OPCODE: 1, ADDR: 2, LEN: 4, SIZE: 8, SRC_PORT: 16, DST_PORT: 32 } as const;

/** In `Handoffs.network` and `Handoffs.birth`: not known. */
export const UNKNOWN_PARTNER = -1;

/** Something that happened to transactions. Sorted by row, in a row in the order of the trace. */
export interface TransactionSide {
  /** Index of the transaction in the block. */
  readonly row: Values;
  /** ps after `basePs`. */
  readonly time: Float64Array;
}

export interface TransactionStages extends TransactionSide {
  /** Index into the network's `stages`; -1: the value is none of them. */
  readonly stage: Int16Array;
  /** The value that the trace has. */
  readonly value: Numbers;
}

/** Events with a number of 64 bits, where they have one: beats, arbitrations. */
export interface TransactionNumbers extends TransactionSide {
  readonly isKnown: Uint8Array;
  readonly lo: Uint32Array;
  readonly hi: Values;
}

export interface TransactionRetries extends TransactionSide {
  /** Value of the reason; -1: the event has none. Labels: `network.events`. */
  readonly reason: Float64Array;
}

export interface TransactionNotes extends TransactionSide {
  /** Reference into the trace's strings. */
  readonly string: Values;
}

/** See `Handoff`. */
export interface TransactionHandoffs extends TransactionSide {
  /** 1: it continues as the other one; 0: it came from there. */
  readonly isTo: Uint8Array;
  /** Index of the other network among `findNetworks(trace)`; `UNKNOWN_PARTNER`. */
  readonly network: Int32Array;
  /** Id of the other one, and its birth in ps after `basePs`; `UNKNOWN_PARTNER`. */
  readonly id: Values;
  readonly birth: Float64Array;
}

export interface TransactionBlock {
  /** Index of the network among `findNetworks(trace)`. */
  readonly network: number;
  /** What all times count from: the earliest one of the block. They are exact below 2^53 ps, 2.5 hours. */
  readonly basePs: bigint;
  readonly count: number;
  /** ps after `basePs`. */
  readonly birth: Float64Array;
  /** ps after `basePs`; -1: in flight, or unknown. */
  readonly end: Float64Array;
  /** `TransactionFlag` */
  readonly flags: Uint8Array;
  /** The slots in the catalog, or what names the transactions there. */
  readonly id: Values;
  /** `TransactionField`; the columns below are 0 where a field is not known. */
  readonly known: Uint8Array;
  readonly opcode: Numbers;
  readonly addrLo: Uint32Array;
  readonly addrHi: Values;
  readonly len: Numbers;
  readonly size: Numbers;
  readonly srcPort: Numbers;
  readonly dstPort: Numbers;
  readonly stages: TransactionStages;
  readonly beats: TransactionNumbers;
  readonly retries: TransactionRetries;
  readonly timeouts: TransactionSide;
  readonly arbitrations: TransactionNumbers;
  readonly annotations: TransactionNotes;
  readonly handoffs: TransactionHandoffs;
}

/** What to hand to `postMessage` with the block; the block is empty afterwards. */
export function transactionTransferList(block: TransactionBlock): ArrayBuffer[] {
  return [block.flags.buffer as ArrayBuffer];
}

/** Time of a column's number. */
export function transactionTime({ basePs }: TransactionBlock, after: number): bigint {
  return basePs + BigInt(after);
}
