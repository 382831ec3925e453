/**
 * Walks the entries of flux bytes: the reader's hot loop, in which nothing is allocated per sample. Compressed blocks are unpacked when
 * they are reached, and entered.
 */
import { UscopeError } from '../../base/errors.js';
import { inflateBlock, isInflated, unpackBlock } from './blocks.js';
import { type FluxGroup, FluxTrace } from './groups.js';
import { type FieldKind, LAYOUT } from './layout.js';
import { sintToBigInt } from './numbers.js';
import { FluxTag, HAS_DELTA, HeadMode, MAGIC, TAG_NAMES } from './types.js';

/** Largest entry and block taken before a head says how large they are, and however large it says. */
const MIN_LIMIT = 64 * 1024;
const MAX_LIMIT = 64 * 1024 * 1024;
/** Blocks in blocks. Bytes unpacked in one block of the file with all that are nested in it: a multiple of its size. */
const MAX_DEPTH = 4;
const MAX_EXPANSION = 4096;
const EXPANSION_SLACK = 256;
const MAX_FIELDS = 16;
const MAX_PINT_BYTES = 16;
const MAX_MEMBERS = 65_536;
const TWO_32 = 2 ** 32;
const MAX_POSITION_BYTES = 16;

interface Window {
  readonly bytes: Uint8Array;
  readonly end: number;
  readonly base: number;
  readonly at: number;
}

export class FluxCursor {
  /** A `FluxTag`. */
  tag: number = FluxTag.SAMPLE;
  /** Where the present entry is in `bytes`, and its size. */
  bytes: Uint8Array = new Uint8Array(0);
  at = 0;
  size = 0;

  /** Sample: item, flags, format, and its value in `bytes`. */
  id = 0;
  flags = 0;
  df = 0;
  xdf = 0;
  valueAt = 0;
  valueSize = 0;
  /** The group a sample belongs to; its position is that of the sample. */
  group: FluxGroup | null = null;

  /** Per field of an entry's layout: numbers, and where texts and SInts lie in `bytes`. */
  readonly numbers = new Float64Array(MAX_FIELDS);
  readonly highs = new Float64Array(MAX_FIELDS);
  readonly starts = new Float64Array(MAX_FIELDS);
  readonly sizes = new Float64Array(MAX_FIELDS);

  /** Trace that the present entry belongs to; null before the first head. */
  trace: FluxTrace | null = null;
  readonly traces = new Map<number, FluxTrace>();
  /** Blocks that the present entry is in. */
  depth = 0;
  entries = 0;
  /** Bytes that the entry after the end of the window takes, as far as that is known. */
  needed = 1;

  /** 1 while sections of a ring buffer are gone through: their end is not passed. */
  private floor = 0;
  private blockOffset = 0;
  private end = 0;
  private ahead = 0;
  /** Offset in the file of `bytes[0]`; in a block, errors give the offset of the block. */
  private base = 0;
  private readonly outer: Window[] = [];
  private pending = false;
  /** The block to continue with, which is to be inflated before. */
  private packed: { readonly mode: number; readonly bytes: Uint8Array; readonly size: number } | null = null;
  private short = false;
  private limit = MIN_LIMIT;
  private budget = 0;
  private lo = 0;
  private hi = 0;

  /** Offset of the present entry in the file, or of the block of the file that holds it. */
  get offset(): number {
    return this.depth === this.floor ? this.base + this.at : this.blockOffset;
  }

  /** Offset in the file of what was not read yet. */
  get restOffset(): number {
    const [first] = this.outer;
    return first ? first.base + first.at : this.base + this.ahead;
  }

  /** What was not read yet of the window at depth 0. */
  get rest(): Uint8Array {
    return this.bytes.subarray(this.ahead, this.end);
  }

  get maxEntrySize(): number {
    return this.limit;
  }

  /** Bytes of the file; they must not change while they are walked. `base` is their offset in it. */
  feed(bytes: Uint8Array, base: number): void {
    this.bytes = plain(bytes);
    this.base = base;
    this.ahead = 0;
    this.end = bytes.length;
    this.outer.length = 0;
    this.depth = this.floor = 0;
    this.pending = false;
    this.packed = null;
  }

  /** Leaves all blocks, of a section too, and continues `count` bytes further. */
  skip(count: number): void {
    while (this.depth > this.floor) this.leave();
    this.pending = false;
    this.packed = null;
    this.ahead = Math.min(this.end, this.ahead + count);
  }

  /** Goes through the used bytes of a section; `next` is false after them. */
  section(bytes: Uint8Array, base: number): void {
    this.endSection();
    this.push(bytes);
    this.base = base;
    this.floor = 1;
  }

  /** Back after the last section. */
  endSection(): void {
    if (this.floor === 0) return;
    while (this.depth > 0) this.leave();
    this.floor = 0;
    this.pending = false;
    this.packed = null;
  }

  get isInSection(): boolean {
    return this.floor === 1;
  }

  /**
   * To the next entry; false when the window holds no whole one, or when `inflate` is due.
   * @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT, CONVERT_UNSUPPORTED
   */
  next(): boolean {
    if (this.pending) this.enter();
    if (this.packed) return false;
    while (this.ahead >= this.end) {
      if (this.depth === this.floor) {
        this.needed = 1;
        return false;
      }
      this.leave();
    }
    this.at = this.ahead;
    this.short = false;
    const { bytes } = this;
    if (bytes[this.at] === 0) this.tagged();
    else this.sample();
    if (this.short) return this.incomplete();
    this.size = this.ahead - this.at;
    this.entries++;
    if (this.tag !== FluxTag.SAMPLE) this.apply();
    else if (!this.locate()) return this.fail(`item ${this.id} has a value but is not open`);
    return true;
  }

  /** Field of the present entry by its place in the layout. */
  number(field: number): number {
    return this.highs[field] * TWO_32 + this.numbers[field];
  }

  sint(field: number): bigint {
    return sintToBigInt(this.bytes, this.starts[field], this.sizes[field]);
  }

  field(field: number): Uint8Array {
    return this.bytes.subarray(this.starts[field], this.starts[field] + this.sizes[field]);
  }

  text(field: number): string {
    return this.sizes[field] === 0 ? '' : decoder.decode(this.field(field));
  }

  /** Value of the present sample as in the file: a view. */
  get value(): Uint8Array {
    return this.bytes.subarray(this.valueAt, this.valueAt + this.valueSize);
  }

  /** @internal An error at the present entry. */
  fail(
    what: string,
    code: 'CONVERT_FORMAT' | 'CONVERT_LIMIT' | 'CONVERT_UNSUPPORTED' = 'CONVERT_FORMAT',
  ): never {
    const where = this.depth > this.floor ? ` (byte ${this.at} of a compressed block)` : '';
    // The entry is not passed over: the code that looks for a place to continue begins right after its first byte.
    this.ahead = this.at;
    throw new UscopeError(code, `${what}${where}`, { offset: this.offset });
  }

  private incomplete(): boolean {
    if (this.depth > 0) this.fail('an entry goes past the end of its block');
    const got = this.end - this.at;
    this.ahead = this.at;
    this.needed = Math.max(this.needed, got + 1);
    if (this.needed > this.limit + MIN_LIMIT) {
      this.fail(`an entry has ${this.needed} bytes or more; ${this.limit} are the most`, 'CONVERT_LIMIT');
    }
    return false;
  }

  private sample(): void {
    const { bytes, end } = this;
    let at = this.at;
    let first = bytes[at++];
    let flags = first & 7;
    if (first < 0x80) this.id = first >>> 3;
    else {
      first = this.pint(this.at);
      at = this.ahead;
      flags = this.lo & 7;
      this.id = Math.floor(first / 8);
      if (!this.short && this.id >= TWO_32)
        this.fail(`item ${this.id} has no id of 32 bits`, 'CONVERT_LIMIT');
    }
    this.flags = flags;
    this.tag = FluxTag.SAMPLE;
    if (flags & 4) this.fail(`a value has the unknown flags ${flags}`);
    this.lo = this.hi = 0;
    if (flags & HAS_DELTA) {
      if (at < end && bytes[at] < 0x80) this.lo = bytes[at++];
      else {
        this.pint(at);
        at = this.ahead;
      }
    }
    if (at >= end) {
      this.cut(1);
      return;
    }
    const deltaLo = this.lo;
    const deltaHi = this.hi;
    let format = bytes[at];
    if (format < 0x80) at++;
    else {
      format = this.pint(at);
      at = this.ahead;
    }
    this.lo = deltaLo;
    this.hi = deltaHi;
    this.df = format & 3;
    this.xdf = (format >>> 2) & 3;
    const size = format < 0x8000_0000 ? format >>> 4 : Math.floor(format / 16);
    this.valueAt = at;
    this.valueSize = size;
    this.take(at, size);
  }

  /** Reads a PInt; its halves go to `lo` and `hi`. */
  private pint(from: number): number {
    const { bytes, end } = this;
    let at = from;
    let lo = 0;
    let hi = 0;
    let shift = 0;
    for (;;) {
      if (at >= end) {
        this.cut(at - this.at + 1);
        break;
      }
      const byte = bytes[at++];
      const group = byte & 0x7f;
      if (shift < 28) lo |= group << shift;
      else if (shift === 28) {
        lo |= group << 28;
        hi = group >>> 4;
      } else if (shift < 63) hi |= group << (shift - 32);
      else if (group > (shift === 63 ? 1 : 0)) this.fail('a number exceeds 64 bits');
      else if (group === 1) hi |= 0x8000_0000;
      if (byte < 0x80) break;
      shift += 7;
      if (at - from >= MAX_PINT_BYTES) this.fail(`a number has more than ${MAX_PINT_BYTES} bytes`);
    }
    this.ahead = at;
    this.lo = lo >>> 0;
    this.hi = hi >>> 0;
    return this.hi * TWO_32 + this.lo;
  }

  /** The entry needs `size` more bytes from `at` on. */
  private take(at: number, size: number): void {
    if (this.short) return;
    if (at + size > this.end) {
      if (size > this.limit)
        this.fail(`${size} bytes are promised; ${this.limit} are the most`, 'CONVERT_LIMIT');
      this.cut(at + size - this.at);
    }
    this.ahead = at + size;
  }

  private cut(needed: number): void {
    this.short = true;
    this.needed = needed;
  }

  private tagged(): void {
    const { bytes, at, end } = this;
    if (at + 1 >= end) {
      this.cut(2);
      return;
    }
    const tag = bytes[at + 1];
    const layout = LAYOUT[tag];
    if (!layout) this.fail(`0x${tag.toString(16)} is the tag of no entry`);
    this.tag = tag;
    this.ahead = at + 2;
    const version = this.trace?.version ?? 6;
    for (let i = 0; i < layout.length && !this.short; i++) {
      const { kind, since } = layout[i];
      this.numbers[i] = this.highs[i] = this.sizes[i] = 0;
      if (since <= version) this.readField(kind, i);
    }
    if (this.short) return;
    if (tag === FluxTag.PBLK) this.extend(this.number(2), 3);
    else if (tag === FluxTag.SECT) this.extend(this.numbers[1], 3);
  }

  /** Bytes after the fields. */
  private extend(size: number, field: number): void {
    this.starts[field] = this.ahead;
    this.sizes[field] = size;
    if (size > this.limit + MIN_LIMIT) {
      this.fail(`a block has ${size} bytes; ${this.limit} are the most`, 'CONVERT_LIMIT');
    }
    this.take(this.ahead, size);
  }

  private readField(kind: FieldKind, i: number): void {
    const at = this.ahead;
    switch (kind) {
      case 'u8':
      case 'u16': {
        const size = kind === 'u8' ? 1 : 2;
        this.take(at, size);
        if (!this.short) this.numbers[i] = this.bytes[at] | (size === 2 ? this.bytes[at + 1] << 8 : 0);
        return;
      }
      case 'magic':
        this.take(at, 4);
        if (!this.short && !isMagic(this.bytes, this.at)) this.fail('a head is not followed by "flux"');
        return;
      case 'id':
      case 'pint':
        this.pint(at);
        this.numbers[i] = this.lo;
        this.highs[i] = this.hi;
        if (kind === 'id' && this.hi !== 0 && !this.short) {
          this.fail(`${this.number(i)} is not an id or size of 32 bits`, 'CONVERT_LIMIT');
        }
        return;
      case 'members':
        this.readMembers(i);
        return;
      default: {
        const size = this.pint(at);
        this.starts[i] = this.ahead;
        this.sizes[i] = size;
        if (kind === 'sint' && size > MAX_POSITION_BYTES && !this.short) {
          this.fail(`a position has ${size} bytes; 8 are the most`, 'CONVERT_LIMIT');
        }
        this.take(this.ahead, size);
      }
    }
  }

  private readMembers(i: number): void {
    const count = this.pint(this.ahead);
    if (this.short) return;
    if (count > MAX_MEMBERS) this.fail(`an entry has ${count} members`, 'CONVERT_LIMIT');
    this.numbers[i] = count;
    this.starts[i] = this.ahead;
    for (let member = 0; member < count && !this.short; member++) {
      this.pint(this.ahead);
      this.take(this.ahead, 1);
      if (this.short) return;
      const size = this.pint(this.ahead);
      this.take(this.ahead, size);
    }
    this.sizes[i] = this.ahead - this.starts[i];
  }

  /** The time of a sample; false when its item is not open. */
  private locate(): boolean {
    const { trace } = this;
    if (!trace) this.fail('a value precedes the first head');
    const group = trace.groupOf(this.id);
    this.group = group;
    if (!group) return false;
    if (this.flags & HAS_DELTA && !group.advance(this.lo, this.hi)) this.fail('time runs past 64 bits');
    return true;
  }

  private apply(): void {
    this.group = null;
    const { tag } = this;
    if (tag === FluxTag.HEAD) this.head();
    else if (tag === FluxTag.SWTH) {
      const trace = this.traces.get(this.numbers[0]);
      if (!trace) this.fail(`trace ${this.numbers[0]} is switched to before its head`);
      this.trace = trace;
    } else if (tag === FluxTag.PBLK) this.pending = true;
    else if (tag === FluxTag.SECT && this.depth > 0)
      this.fail('a ring buffer is inside a block or another ring buffer', 'CONVERT_UNSUPPORTED');
    else if (!this.trace && tag !== FluxTag.SECT) this.fail(`${TAG_NAMES.get(tag)} precedes the first head`);
    else if (this.trace) this.define(this.trace);
  }

  private head(): void {
    const [version, traceId, mode] = [this.numbers[1], this.numbers[2], this.numbers[5]];
    if (version < 4 || version > 6)
      this.fail(`version ${version} of flux; 4 to 6 are read`, 'CONVERT_UNSUPPORTED');
    const known = this.traces.get(traceId);
    if (!known || mode === HeadMode.NORMAL) {
      this.trace = new FluxTrace(traceId, this.text(3), version);
      this.traces.set(traceId, this.trace);
    } else this.trace = known;
    this.trace.isSync = mode === HeadMode.SYNC;
    this.limit = Math.max(this.limit, Math.min(this.numbers[7], MAX_LIMIT));
  }

  private define(trace: FluxTrace): void {
    const { numbers } = this;
    switch (this.tag) {
      case FluxTag.SCPD:
        trace.define(numbers[0], numbers[1], -1);
        break;
      case FluxTag.SIGD:
      case FluxTag.SSGD:
        trace.define(numbers[0], numbers[1], numbers[4]);
        break;
      case FluxTag.MSGD:
        trace.defineRange(numbers[0], numbers[1], numbers[2], numbers[5]);
        break;
      case FluxTag.DOMD:
        trace.domain = this.text(0);
        break;
      case FluxTag.OPEN:
        this.group = trace.open(numbers[0], this.text(1), this.position(2));
        break;
      case FluxTag.CLOS:
        this.position(1);
        this.group = trace.groups.get(numbers[0]) ?? null;
        trace.close(numbers[0]);
        break;
      case FluxTag.CURR:
        this.group = trace.groups.get(numbers[0]) ?? trace.groupOf(numbers[0]);
        if (!this.group) this.fail(`the position of item ${numbers[0]} is given, but the item is not open`);
        this.group.moveTo(this.position(1));
        break;
    }
  }

  private position(field: number): bigint {
    const value = this.sint(field);
    if (value !== BigInt.asIntN(64, value)) {
      this.fail(`position ${value} has more than 64 bits`, 'CONVERT_UNSUPPORTED');
    }
    return value;
  }

  private enter(): void {
    this.pending = false;
    const mode = this.numbers[0];
    const size = this.number(1);
    if (this.outer.length >= MAX_DEPTH) this.fail(`${MAX_DEPTH} blocks are nested`, 'CONVERT_LIMIT');
    if (size > this.limit)
      this.fail(`a block expands to ${size} bytes; ${this.limit} is the limit`, 'CONVERT_LIMIT');
    const packed = this.field(3);
    if (this.depth === this.floor) {
      this.blockOffset = this.base + this.at;
      this.budget = MAX_EXPANSION * (packed.length + EXPANSION_SLACK);
    }
    this.budget -= size;
    if (this.budget < 0) this.fail('a block unpacks to more than its bytes can mean', 'CONVERT_LIMIT');
    if (isInflated(mode)) this.packed = { mode, bytes: packed, size };
    else this.push(unpackBlock(mode, packed, size, this.offset));
  }

  /** Whether `inflate` is due: a block of zlib or gzip comes next. */
  get isPacked(): boolean {
    return this.packed !== null;
  }

  /** Unpacks the block that comes next. @throws UscopeError CONVERT_FORMAT */
  async inflate(): Promise<void> {
    const { packed } = this;
    if (!packed) return;
    this.packed = null;
    this.push(await inflateBlock(packed.mode, packed.bytes, packed.size, this.offset));
  }

  private push(bytes: Uint8Array): void {
    this.outer.push({ bytes: this.bytes, end: this.end, base: this.base, at: this.ahead });
    this.bytes = plain(bytes);
    this.end = bytes.length;
    this.ahead = 0;
    this.depth++;
  }

  private leave(): void {
    const window = this.outer.pop()!;
    this.bytes = window.bytes;
    this.end = window.end;
    this.base = window.base;
    this.ahead = window.at;
    this.depth--;
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Slices of a Buffer are views, those of a plain array copies. */
function plain(bytes: Uint8Array): Uint8Array {
  return bytes.constructor === Uint8Array
    ? bytes
    : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function isMagic(bytes: Uint8Array, at: number): boolean {
  return MAGIC.every((byte, index) => bytes[at + index] === byte);
}
