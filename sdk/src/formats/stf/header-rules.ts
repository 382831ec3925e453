/** What may be in a header, how often, and what must: the strict part of reading STF. */

import type { ErrorCode } from '../../base/codes.js';
import type { UscopeError } from '../../base/errors.js';
import { MAGIC, MAX_VLEN, StfFeature, StfType, TYPE_NAMES } from './types.js';

/** Bits of `PLACES`. */
export const IN_HEADER = 1;
export const IN_BODY = 2;

/** Descriptor -> where it is allowed. */
export const PLACES = new Uint8Array(256);
for (const type of TYPE_NAMES.keys()) PLACES[type] = type <= StfType.END_HEADER ? IN_HEADER : IN_BODY;
for (const type of [StfType.COMMENT, StfType.PROCESS_ID_EXT, StfType.FORCE_PC]) {
  PLACES[type] = IN_HEADER | IN_BODY;
}

const REPEATABLE = new Set<number>([StfType.COMMENT, StfType.TRACE_INFO, StfType.CLOCK_ID]);
const ALWAYS = [StfType.TRACE_INFO, StfType.TRACE_INFO_FEATURE];
const OF_INSTRUCTIONS = [StfType.ISA, StfType.INST_IEM, StfType.FORCE_PC];
const OF_TRANSACTIONS = [StfType.PROTOCOL_ID, StfType.CLOCK_ID];

export const OLDEST_MINOR = 2;
/** The newest version whose text is known. Later 1.x are read: a record they add is an error where it is. */
export const NEWEST_MINOR = 6;

/** A record as the rules see it; a cursor is one. */
export interface HeaderRecord {
  readonly type: number;
  readonly at: number;
  readonly bytes: Uint8Array;
  readonly view: DataView;
  error(code: ErrorCode, detail: string): UscopeError;
}

export class HeaderRules {
  major = 0;
  minor = 0;
  isa = 0;
  iem = 0;
  /** Features as u32 halves. */
  features = 0;
  featuresHi = 0;
  /** Bits of a vector register; 0: no VLEN_CONFIG. */
  vlen = 0;
  /** 0: no PROTOCOL_ID. */
  protocol = 0;
  private readonly seen = new Set<number>();

  /** @param bit of `StfFeature` */
  hasFeature(bit: number): boolean {
    return ((this.features >>> bit) & 1) === 1;
  }

  /** Whether the file holds bus transactions instead of instructions. */
  get isTransactions(): boolean {
    return this.hasFeature(StfFeature.TRANSACTIONS);
  }

  /** The next record of the header. @throws UscopeError CONVERT_FORMAT, CONVERT_UNSUPPORTED, CONVERT_LIMIT */
  take(record: HeaderRecord): void {
    this.checkOrder(record);
    this.seen.add(record.type);
    const { view, at } = record;
    if (record.type === StfType.VERSION) this.takeVersion(record);
    else if (record.type === StfType.ISA) this.isa = view.getUint16(at + 1, true);
    else if (record.type === StfType.INST_IEM) this.iem = view.getUint16(at + 1, true);
    else if (record.type === StfType.TRACE_INFO_FEATURE) {
      this.features = view.getUint32(at + 1, true);
      this.featuresHi = view.getUint32(at + 5, true);
    } else if (record.type === StfType.VLEN_CONFIG) this.takeVlen(record);
    else if (record.type === StfType.PROTOCOL_ID) this.protocol = view.getUint8(at + 1);
    else if (record.type === StfType.END_HEADER) this.checkComplete(record);
  }

  private checkOrder(record: HeaderRecord): void {
    const { type, bytes, at } = record;
    const first = this.seen.size === 0;
    const second = this.seen.size === 1;
    const isMagic = first && MAGIC.every((byte, i) => bytes[at + i] === byte);
    if ((first && !isMagic) || (second && type !== StfType.VERSION)) {
      throw record.error('CONVERT_FORMAT', 'a file begins with the identifier STF and its version');
    }
    if (this.seen.has(type) && !REPEATABLE.has(type)) {
      throw record.error('CONVERT_FORMAT', `the header has ${TYPE_NAMES.get(type)} twice`);
    }
  }

  private takeVersion(record: HeaderRecord): void {
    this.major = record.view.getUint32(record.at + 1, true);
    this.minor = record.view.getUint32(record.at + 5, true);
    if (this.major === 1 && this.minor >= OLDEST_MINOR) return;
    throw record.error(
      'CONVERT_UNSUPPORTED',
      `STF version ${this.major}.${this.minor}: versions from 1.${OLDEST_MINOR} on, below 2.0, are read`,
    );
  }

  private takeVlen(record: HeaderRecord): void {
    this.vlen = record.view.getUint32(record.at + 1, true);
    if (this.vlen < 64)
      throw record.error('CONVERT_FORMAT', `VLEN_CONFIG of ${this.vlen} bits; 64 are the least`);
    if (this.vlen > MAX_VLEN) {
      throw record.error('CONVERT_LIMIT', `VLEN_CONFIG of ${this.vlen} bits; RISC-V has at most ${MAX_VLEN}`);
    }
  }

  private checkComplete(record: HeaderRecord): void {
    const required = [...ALWAYS, ...(this.isTransactions ? OF_TRANSACTIONS : OF_INSTRUCTIONS)];
    const missing = required.filter((type) => !this.seen.has(type)).map((type) => TYPE_NAMES.get(type));
    if (missing.length) throw record.error('CONVERT_FORMAT', `the header has no ${missing.join(', no ')}`);
  }
}
