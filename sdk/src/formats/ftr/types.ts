/** FTR (Fast Transaction Recording): what its numbers mean, and its chunks as values. */

import { FtrPhase, FtrTag, FtrType, PHASE_NAMES, TYPE_NAMES } from '../common/recording.js';

export { FtrPhase, FtrTag, FtrType, PHASE_NAMES, TYPE_NAMES };

/** Tag 55799, then the head of an array without a stated length. */
export const MAGIC: readonly number[] = [0xd9, 0xd9, 0xf7, 0x9f];

/** What old files call STRING. */
export const OLD_STRING = 12;

/** How the value of an attribute is in the file. */
export const FtrForm = {
  UNSIGNED: 0,
  /** -1 - n, of which n is kept. */
  NEGATIVE: 1,
  BOOLEAN: 2,
  FLOAT16: 3,
  FLOAT32: 4,
  FLOAT64: 5,
} as const;
export type FtrForm = (typeof FtrForm)[keyof typeof FtrForm];

/** Text; as bytes where it is not UTF-8. */
export type FtrText = string | Uint8Array;

const isOneOf = (types: readonly number[]): Uint8Array =>
  Uint8Array.from({ length: OLD_STRING + 1 }, (_, type) => (types.includes(type) ? 1 : 0));

/** Types whose value is the number of a text in the dictionary; types that are numbers with a fraction. Indexed by type. */
export const IS_TEXT = isOneOf([1, 5, 6, 10, OLD_STRING]);
export const IS_FLOAT = isOneOf([4, 7, 8]);

/** The header: transactions count time in units of 10^`exponent` seconds, or say so at least. */
export interface FtrInfo {
  readonly kind: 'info';
  readonly exponent: number;
  /** Seconds since 1970; null: none known. */
  readonly epoch: bigint | number | null;
}

export interface FtrDictionary {
  readonly kind: 'dictionary';
  /** Texts as they are in the file. */
  readonly entries: readonly (readonly [id: number, text: Uint8Array])[];
}

export interface FtrStream {
  readonly kind: 'stream';
  readonly id: bigint;
  /** Numbers of texts, here and below. */
  readonly name: number;
  readonly streamKind: number;
}

export interface FtrGenerator {
  readonly kind: 'generator';
  readonly id: bigint;
  readonly name: number;
  readonly stream: bigint;
}

export type FtrDeclaration = FtrStream | FtrGenerator;

export interface FtrDirectory {
  readonly kind: 'directory';
  readonly entries: readonly FtrDeclaration[];
}

/** An attribute as it is in the file: `bits` are those of its form. */
export interface FtrRawAttribute {
  readonly phase: FtrPhase;
  readonly name: number;
  readonly type: number;
  readonly form: FtrForm;
  readonly bits: bigint;
}

export interface FtrRawTransaction {
  readonly id: bigint;
  readonly generator: bigint;
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: readonly FtrRawAttribute[];
}

export interface FtrTransactions {
  readonly kind: 'transactions';
  readonly stream: bigint;
  /** What the writer says of the times; null in old files. It may span blocks before. */
  readonly start: bigint | null;
  readonly end: bigint | null;
  readonly transactions: readonly FtrRawTransaction[];
}

export interface FtrRawRelation {
  readonly name: number;
  readonly source: bigint;
  readonly sink: bigint;
  /** null in old files. */
  readonly sourceStream: bigint | null;
  readonly sinkStream: bigint | null;
}

export interface FtrRelations {
  readonly kind: 'relations';
  readonly relations: readonly FtrRawRelation[];
}

export type FtrChunk = FtrInfo | FtrDictionary | FtrDirectory | FtrTransactions | FtrRelations;

/** The value of an attribute, by its type: BOOLEAN boolean, numbers with a fraction number, texts FtrText, all others bigint. */
export type FtrValue = boolean | bigint | number | FtrText;

/** With names instead of numbers of texts. */
export interface FtrAttribute {
  readonly phase: FtrPhase;
  readonly name: FtrText;
  readonly type: FtrType;
  readonly value: FtrValue;
}

export interface FtrTransaction {
  readonly id: bigint;
  readonly stream: bigint;
  readonly generator: bigint;
  /** In ticks. */
  readonly start: bigint;
  readonly end: bigint;
  /** In the order in which they were recorded; names may repeat. */
  readonly attributes: readonly FtrAttribute[];
}

export interface FtrRelation {
  readonly name: FtrText;
  readonly source: bigint;
  readonly sink: bigint;
  /** 0: not given. */
  readonly sourceStream: bigint;
  readonly sinkStream: bigint;
}
