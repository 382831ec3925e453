/** Walks the records of a stretch of STF: the hot loop of everything that reads. Nothing is allocated per record. */
import type { ErrorCode } from '../../base/codes.js';
import { UscopeError } from '../../base/errors.js';
import {
  bytesOfFields,
  Channel,
  LAYOUT,
  MAGIC,
  MAX_RECORD_BYTES,
  MAX_VLEN,
  PROTOCOL_TILELINK,
  StfFeature,
  StfType,
  TYPE_NAMES,
  VECTOR_FILE,
} from './types.js';

const TWO_32 = 0x1_0000_0000;
const MAX_METADATA_WIDTH = 3;

/** Sizes with the descriptor; 0: unknown descriptor or variable size. */
const SIZES = new Uint8Array(256);
for (const [type, fields] of LAYOUT) SIZES[type] = 1 + bytesOfFields(fields) || 0;
SIZES[StfType.IDENTIFIER] = MAGIC.length;

/**
 * `next()` moves to the next record that lies whole in the bytes fed; what it leaves over is the beginning of one that does not.
 *
 *   cursor.feed(bytes);
 *   while (cursor.next()) if (cursor.isMarker) use(cursor.pcLo, cursor.pcHi, cursor.bits);
 *
 * The cursor knows what the records before say: features, vector length, protocol, and the program counter.
 * @throws UscopeError from `next`: CONVERT_FORMAT, CONVERT_UNSUPPORTED, CONVERT_LIMIT, with the offset in the uncompressed stream
 */
export class StfCursor {
  bytes: Uint8Array = new Uint8Array(0);
  view = new DataView(this.bytes.buffer);
  /** Index in `bytes` of the present record, its descriptor, and its size with the descriptor. */
  at = 0;
  type = 0;
  size = 0;
  /** Records so far; of those markers: instructions, or transactions. */
  records = 0;
  markers = 0;
  /** At an OPCODE: the address of the instruction as u32 halves, and its bits. */
  pcLo = 0;
  pcHi = 0;
  bits = 0;
  /** Where the next instruction will be, unless a FORCE_PC comes. */
  nextLo = 0;
  nextHi = 0;
  /** What `next` lacked when it last gave `false`: bytes that the record needs from `rest` on; 1 more than there are when that is not known. */
  needed = 0;

  /** What the header says so far. */
  readonly header = new HeaderRules();
  private place = IN_HEADER;
  private event64 = false;
  private end = 0;
  private offset = 0;
  private base = 0;
  private hasTarget = false;
  private targetLo = 0;
  private targetHi = 0;

  /** Offset of the present record in the uncompressed stream. */
  get streamOffset(): number {
    return this.base + this.at;
  }

  /** Offset in the uncompressed stream of what has not been read. */
  get restOffset(): number {
    return this.base + this.offset;
  }

  /** Bytes fed that belong to no whole record. */
  get rest(): Uint8Array {
    return this.bytes.subarray(this.offset, this.end);
  }

  /** Whether the header is complete. */
  get isBody(): boolean {
    return this.place === IN_BODY;
  }

  get hasEvent64(): boolean {
    return this.event64;
  }

  /** Present record ends an instruction or is a transaction. */
  get isMarker(): boolean {
    return this.type >= StfType.INST_OPCODE32 && this.type <= StfType.TRANSACTION;
  }

  /** Present record is about an instruction that comes after it. */
  get isOperand(): boolean {
    const { type } = this;
    return (
      type >= StfType.INST_PC_TARGET && type <= StfType.INST_MEM_CONTENT && type !== StfType.PAGE_TABLE_WALK
    );
  }

  /** Goes on with these bytes, which begin with what was left over; those from `end` on are not there yet. */
  feed(bytes: Uint8Array, end = bytes.length): void {
    this.base += this.offset;
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.offset = this.at = 0;
    this.end = end;
  }

  /** More of the bytes fed are there. */
  extend(end: number): void {
    this.end = end;
  }

  /** Goes on elsewhere: `instructions` before it, and the address of the next one. The header has been read. */
  jump(streamOffset: number, markers: number, nextLo: number, nextHi: number): void {
    this.bytes = new Uint8Array(0);
    this.offset = this.end = this.at = 0;
    this.base = streamOffset;
    this.markers = markers;
    this.nextLo = nextLo;
    this.nextHi = nextHi;
    this.hasTarget = false;
  }

  /** To the next record; false when the bytes hold no whole one. */
  next(): boolean {
    const at = this.offset;
    if (at >= this.end) {
      this.needed = 1;
      return false;
    }
    this.at = at;
    const type = this.bytes[at];
    const size = SIZES[type] || this.variableSize(type, at);
    if (size === 0 || at + size > this.end) {
      this.needed = size || this.end - at + 1;
      return false;
    }
    if ((PLACES[type] & this.place) === 0) this.misplaced(type);
    this.type = type;
    this.size = size;
    this.offset = at + size;
    this.records++;
    this.follow(type, at);
    return true;
  }

  /** Low and high half of a u64 at an offset of the present record. */
  lo(offset: number): number {
    return this.view.getUint32(this.at + offset, true);
  }

  hi(offset: number): number {
    return this.view.getUint32(this.at + offset + 4, true);
  }

  /** @internal An error at the present record. */
  error(code: ErrorCode, detail: string): UscopeError {
    return new UscopeError(code, detail, { offset: this.streamOffset });
  }

  private follow(type: number, at: number): void {
    switch (type) {
      case StfType.INST_OPCODE32:
        this.bits = this.view.getUint32(at + 1, true);
        this.advance(4);
        break;
      case StfType.INST_OPCODE16:
        this.bits = this.view.getUint16(at + 1, true);
        this.advance(2);
        break;
      case StfType.INST_PC_TARGET:
      case StfType.EVENT_PC_TARGET:
        this.hasTarget = true;
        this.targetLo = this.lo(1);
        this.targetHi = this.hi(1);
        break;
      case StfType.FORCE_PC:
        this.nextLo = this.lo(1);
        this.nextHi = this.hi(1);
        if (this.place === IN_HEADER) this.header.take(this);
        break;
      case StfType.TRANSACTION:
        this.markers++;
        break;
      default:
        if (this.place === IN_HEADER) this.followHeader(type);
    }
  }

  /** The rule of the format: `pc = next; next = target ?? pc + length`. */
  private advance(length: number): void {
    this.markers++;
    this.pcLo = this.nextLo;
    this.pcHi = this.nextHi;
    if (this.hasTarget) {
      this.nextLo = this.targetLo;
      this.nextHi = this.targetHi;
      this.hasTarget = false;
      return;
    }
    const lo = this.pcLo + length;
    this.nextLo = lo >>> 0;
    if (lo >= TWO_32) this.nextHi = (this.pcHi + 1) >>> 0;
  }

  private followHeader(type: number): void {
    this.header.take(this);
    if (type !== StfType.END_HEADER) return;
    this.place = IN_BODY;
    this.event64 = this.header.hasFeature(StfFeature.EVENT64);
  }

  private misplaced(type: number): never {
    const name = TYPE_NAMES.get(type) ?? type;
    const where = this.place === IN_HEADER ? 'before the end of the header' : 'after the header';
    throw this.error('CONVERT_FORMAT', `${name} is ${where}, where it is not allowed`);
  }

  /** Size of a record whose fields say it; 0 when the fields that say it are not there yet. */
  private variableSize(type: number, at: number): number {
    const left = this.end - at;
    const { view } = this;
    switch (type) {
      case StfType.INST_REG:
        if (left < 4) return 0;
        return 4 + 8 * this.registerWords(view.getUint8(at + 3));
      case StfType.EVENT: {
        const head = this.event64 ? 10 : 6;
        return left < head ? 0 : head + 8 * view.getUint8(at + head - 1);
      }
      case StfType.COMMENT:
      case StfType.ISA_EXTENDED:
        return left < 5 ? 0 : this.bounded(5 + view.getUint32(at + 1, true));
      case StfType.TRACE_INFO:
        return left < 7 ? 0 : 7 + view.getUint16(at + 5, true);
      case StfType.CLOCK_ID:
        return left < 4 ? 0 : 4 + view.getUint16(at + 2, true);
      case StfType.PAGE_TABLE_WALK:
        return left < 22 ? 0 : 22 + 16 * view.getUint8(at + 21);
      case StfType.TRANSACTION:
        return this.transactionSize(at);
      default:
        throw this.error('CONVERT_FORMAT', `there is no record with the descriptor ${type}`);
    }
  }

  private bounded(size: number): number {
    if (size <= MAX_RECORD_BYTES) return size;
    throw this.error('CONVERT_LIMIT', `a text of ${size - 5} bytes; at most ${MAX_RECORD_BYTES} are taken`);
  }

  private registerWords(meta: number): number {
    const file = meta & 15;
    if (file === 0 || file > 4)
      throw this.error('CONVERT_FORMAT', `INST_REG of the unknown register file ${file}`);
    if (file !== VECTOR_FILE) return 1;
    if (this.header.vlen > 0) return (this.header.vlen + 63) >>> 6;
    throw this.error('CONVERT_FORMAT', 'a vector register in a file whose header has no VLEN_CONFIG');
  }

  private transactionSize(at: number): number {
    if (this.header.protocol !== PROTOCOL_TILELINK) {
      throw this.error(
        this.header.protocol === 0 ? 'CONVERT_FORMAT' : 'CONVERT_UNSUPPORTED',
        `a TRANSACTION of the protocol ${this.header.protocol}: only TileLink (1) is known`,
      );
    }
    const fields = this.skipMetadata(at);
    return fields === 0 ? 0 : this.messageSize(fields, at);
  }

  /** Index of the channel byte; 0 when it is not there yet. */
  private skipMetadata(at: number): number {
    const { bytes, end } = this;
    let from = at + 20;
    if (from > end) return 0;
    for (let left = bytes[at + 18] | (bytes[at + 19] << 8); left > 0; left--) {
      if (from >= end) return 0;
      const width = bytes[from];
      if (width > MAX_METADATA_WIDTH) {
        throw this.error('CONVERT_FORMAT', `metadata of 2^${width} bytes in a TRANSACTION; 8 are the most`);
      }
      from += 1 + (1 << width);
    }
    return from < end ? from : 0;
  }

  /** @param from index of the channel byte */
  private messageSize(from: number, at: number): number {
    const channel = this.bytes[from];
    if (channel < Channel.A || channel > Channel.E) {
      throw this.error('CONVERT_FORMAT', `a TRANSACTION of the unknown channel ${channel}`);
    }
    if (channel === Channel.E) return from + 9 - at;
    if (from + 14 > this.end) return 0;
    // Channel, code, param, size, source, data; then an address (A, B, C) or a sink (D).
    const address = from + 14 + this.view.getUint16(from + 12, true);
    if (channel >= Channel.C) return address + 8 - at;
    if (address + 10 > this.end) return 0;
    return address + 10 + ((this.view.getUint16(address + 8, true) + 7) >>> 3) - at;
  }
}

// What may be in a header, how often, and what must: the strict part of reading STF.

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

  /** True if the file holds bus transactions instead of instructions. */
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
