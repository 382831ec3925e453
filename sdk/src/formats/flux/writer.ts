/** Writing flux: linear, in compressed blocks, or as a ring buffer; one or more traces in a file. */

import { minOf } from '../../base/arrays.js';
import { UscopeError } from '../../base/errors.js';
import { putVarint } from '../common/varint.js';
import type { BlockCompression } from './blocks.js';
import { encodeEntry } from './entries.js';
import { type FluxGroup, FluxTrace } from './groups.js';
import { bigIntToSint } from './numbers.js';
import {
  CompressedBuffer,
  type FluxBuffer,
  type FluxOutput,
  LinearBuffer,
  RingBuffer,
  type RingShape,
} from './outputs.js';
import {
  CONFLICT,
  type FluxEntry,
  FluxTag,
  HAS_DELTA,
  HeadMode,
  MAX_DELTA,
  MAX_ENTRY_SIZE,
  MAX_ITEM_ID,
  MAX_TRACE_ID,
  VERSION,
} from './types.js';
import { encodeValue, type FluxValue, Format } from './values.js';

export interface FluxWriterOptions {
  /** Default none. */
  readonly compress?: BlockCompression | 'none' | undefined;
  /** Bytes of entries in a compressed block at most; default 64 KiB, and no more than the heads' `maxEntrySize`. */
  readonly blockBytes?: number | undefined;
}

/**
 *     const file = new FluxWriter(output, { compress: 'lz4' });
 *     const core = file.trace({ traceId: 0, name: 'core0' });
 *     core.entry({ tag: FluxTag.SIGD, id: 1, parent: 0, name: 'pc', description: '', type: FluxType.INTEGER, descriptor: '' });
 *     core.open(0, 'ps', 0n);
 *     for (const [time, pc] of values) {
 *       core.integer(1, time, pc);
 *       if (file.isFull) await file.flush();
 *     }
 *     core.close(0, end);
 *     await file.close();
 */
export class FluxWriter {
  readonly traces: FluxTraceWriter[] = [];
  /** @internal Trace that the next entry belongs to unless a switch comes before it. */
  current: FluxTraceWriter | null = null;
  /** @internal */
  buffer: FluxBuffer;
  private readonly linear = new LinearBuffer();
  private isClosed = false;

  constructor(
    private readonly output: FluxOutput,
    private readonly options: FluxWriterOptions = {},
  ) {
    this.buffer = this.linear;
  }

  /** Whether `flush` is due. */
  get isFull(): boolean {
    return this.linear.isFull;
  }

  /** Begins a trace. @throws UscopeError CONVERT_SOURCE beyond what viewers take */
  trace(head: FluxHead): FluxTraceWriter {
    const trace = new FluxTraceWriter(this, head);
    this.traces.push(trace);
    this.current = trace;
    encodeEntry(this.buffer, trace.head, MAX_ENTRY_SIZE);
    return trace;
  }

  /**
   * From here on only the newest entries are kept, in a ring of the given size; heads and definitions precede it.
   * @throws UscopeError CONVERT_OPTION for a size that gives no sections, or with compression
   */
  ring(shape: RingShape): void {
    if (this.buffer !== this.linear || (this.options.compress ?? 'none') !== 'none') {
      throw new UscopeError('CONVERT_OPTION', 'a ring buffer is not compressed: choose one of the two');
    }
    this.buffer = new RingBuffer(this.linear, shape, (buffer) => this.tellPositions(buffer));
  }

  /** Hands what is waiting to the output. */
  async flush(): Promise<void> {
    await this.linear.flush(this.output);
  }

  /** Ends the file: a ring buffer is written now. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    if (this.buffer !== this.linear) this.buffer.end();
    this.linear.end();
    await this.flush();
  }

  /** @internal */
  select(trace: FluxTraceWriter): void {
    if (this.current === trace) return;
    this.current = trace;
    encodeEntry(this.buffer, { tag: FluxTag.SWTH, traceId: trace.id }, MAX_ENTRY_SIZE);
  }

  /** @internal Heads at the beginning precede compressed blocks. */
  start(): void {
    const { compress = 'none', blockBytes = DEFAULT_MAX_ENTRY_SIZE } = this.options;
    if (compress === 'none' || this.buffer !== this.linear) return;
    const most = minOf(
      this.traces.map(({ maxEntrySize }) => maxEntrySize),
      blockBytes,
    );
    this.buffer = new CompressedBuffer(this.linear, compress, most);
  }

  /** The start of a section: what was before may be gone. */
  private tellPositions(buffer: FluxBuffer): void {
    const several = this.traces.length > 1;
    for (const trace of this.traces) {
      if (several) encodeEntry(buffer, { tag: FluxTag.SWTH, traceId: trace.id }, MAX_ENTRY_SIZE);
      for (const group of trace.state.groups.values()) {
        encodeEntry(buffer, { tag: FluxTag.CURR, id: group.id, position: group.position }, MAX_ENTRY_SIZE);
      }
    }
    const { current } = this;
    if (several && current && current !== this.traces[this.traces.length - 1]) {
      encodeEntry(buffer, { tag: FluxTag.SWTH, traceId: current.id }, MAX_ENTRY_SIZE);
    }
  }
}

/** Writing the entries of one trace of a flux file. Obeys the limits of existing viewers. */
export interface FluxHead {
  readonly traceId: number;
  readonly name: string;
  readonly description?: string | undefined;
  /** Highest id of an item; default 65,535. */
  readonly maxItemId?: number | undefined;
  /** Bytes of the largest entry; default 64 KiB. */
  readonly maxEntrySize?: number | undefined;
}

const DEFAULT_MAX_ITEM_ID = 65_535;
export const DEFAULT_MAX_ENTRY_SIZE = 65_536;
/** Bytes in front of a value at most. */
const SAMPLE_HEAD_BYTES = 20;
const TWO_32 = 2 ** 32;
const MAX_SMALL_INTEGER = 2 ** 47;

/** One trace of a file. Positions are absolute, in the domain of the open group, and do not go back. */
export class FluxTraceWriter {
  readonly id: number;
  readonly maxEntrySize: number;
  /** @internal */
  readonly state: FluxTrace;
  /** @internal */
  readonly head: FluxEntry;
  private readonly maxItemId: number;

  /** @internal */
  constructor(
    private readonly file: FluxWriter,
    { traceId, name, description = '', maxItemId, maxEntrySize }: FluxHead,
  ) {
    this.id = within('trace id', traceId, 0, MAX_TRACE_ID);
    this.maxItemId = within('highest item id', maxItemId ?? DEFAULT_MAX_ITEM_ID, 0, MAX_ITEM_ID);
    this.maxEntrySize = within('size of entries', maxEntrySize ?? DEFAULT_MAX_ENTRY_SIZE, 64, MAX_ENTRY_SIZE);
    this.state = new FluxTrace(traceId, name, VERSION);
    const { id, maxEntrySize: size } = this;
    const mode = HeadMode.NORMAL;
    this.head = {
      tag: FluxTag.HEAD,
      version: VERSION,
      traceId: id,
      name,
      description,
      mode,
      maxItemId: this.maxItemId,
      maxEntrySize: size,
    };
  }

  /**
   * Appends any entry; a sample with its absolute position. A head is written as one of mode 1, for readers that join here.
   * @throws UscopeError CONVERT_SOURCE when it breaks a limit, its item is not open, or time goes back
   */
  entry(entry: FluxEntry): void {
    if (entry.tag === FluxTag.SAMPLE) {
      this.sample(entry.id, entry.position, entry.df, entry.xdf, entry.data, entry.conflict);
      return;
    }
    this.check(entry);
    this.file.start();
    this.file.select(this);
    const written =
      entry.tag === FluxTag.HEAD ? { ...this.head, ...entry, traceId: this.id, mode: HeadMode.SYNC } : entry;
    encodeEntry(this.file.buffer, written, this.maxEntrySize);
    this.apply(entry);
  }

  open(id: number, domain: string, start: bigint, rate = 0n): void {
    this.entry({ tag: FluxTag.OPEN, id, domain, start, rate });
  }

  close(id: number, end: bigint): void {
    this.entry({ tag: FluxTag.CLOS, id, end });
  }

  none(id: number, position: number | bigint, conflict = false): void {
    const at = this.begin(id, position, conflict, 1);
    this.file.buffer.bytes[at] = 0;
    this.end(at + 1);
  }

  event(id: number, position: number | bigint, value: number | bigint, conflict = false): void {
    this.whole(id, position, value, conflict, Format.EVENT);
  }

  /** The value has any size; a number must be a whole one that it holds exactly. */
  integer(id: number, position: number | bigint, value: number | bigint, conflict = false): void {
    this.whole(id, position, value, conflict, Format.PLAIN);
  }

  /** An integer of 64 bits, from its halves. */
  integer64(id: number, position: number | bigint, lo: number, hi: number, conflict = false): void {
    const high = hi | 0;
    if (high >= -0x8000 && high < 0x8000) {
      this.whole(id, position, high * TWO_32 + (lo >>> 0), conflict, Format.PLAIN);
      return;
    }
    const at = this.begin(id, position, conflict, 10);
    const { bytes, view } = this.file.buffer;
    const size = high >= -0x80_0000 && high < 0x80_0000 ? 7 : 8;
    const value = putVarint(bytes, at, (size << 4) | Format.PLAIN);
    view.setUint32(value, lo, true);
    view.setInt32(value + 4, high, true);
    this.end(value + size);
  }

  float32(id: number, position: number | bigint, value: number, conflict = false): void {
    const at = this.begin(id, position, conflict, 6);
    const { bytes, view } = this.file.buffer;
    bytes[at] = (4 << 4) | (1 << 2) | Format.PLAIN;
    view.setFloat32(at + 1, value, true);
    this.end(at + 5);
  }

  float64(id: number, position: number | bigint, value: number, conflict = false): void {
    const at = this.begin(id, position, conflict, 10);
    const { bytes, view } = this.file.buffer;
    const format = (8 << 4) | (2 << 2) | Format.PLAIN;
    bytes[at] = (format & 0x7f) | 0x80;
    bytes[at + 1] = format >>> 7;
    view.setFloat64(at + 2, value, true);
    this.end(at + 10);
  }

  text(id: number, position: number | bigint, text: string, conflict = false): void {
    const room = 3 * text.length;
    if (room < 128) {
      // Short texts are written where they are: their size takes one byte or two, which is known afterwards.
      const at = this.begin(id, position, conflict, room + 2);
      const { bytes } = this.file.buffer;
      let size = 0;
      let plain = true;
      for (; size < text.length && plain; size++) {
        const code = text.charCodeAt(size);
        plain = code < 0x80;
        if (plain) bytes[at + (text.length < 8 ? 1 : 2) + size] = code;
      }
      if (plain) {
        const format = (size << 4) | Format.PLAIN;
        if (size < 8) bytes[at] = format;
        else {
          bytes[at] = (format & 0x7f) | 0x80;
          bytes[at + 1] = format >>> 7;
        }
        this.end(at + (size < 8 ? 1 : 2) + size);
        return;
      }
      this.finish(at, Format.PLAIN, 0, encoder.encode(text));
      return;
    }
    this.sample(id, position, Format.PLAIN, 0, encoder.encode(text), conflict);
  }

  value(id: number, position: number | bigint, value: FluxValue, conflict = false): void {
    const { df, xdf, data } = encodeValue(value);
    this.sample(id, position, df, xdf, data, conflict);
  }

  /** A value in the bytes that the format gives it. */
  sample(
    id: number,
    position: number | bigint,
    df: number,
    xdf: number,
    data: Uint8Array,
    conflict = false,
  ): void {
    if (data.length + SAMPLE_HEAD_BYTES > this.maxEntrySize) {
      throw source(`a value of ${data.length} bytes; ${this.maxEntrySize - SAMPLE_HEAD_BYTES} are the most`);
    }
    const at = this.begin(id, position, conflict, data.length + 10);
    this.finish(at, df, xdf, data);
  }

  private finish(at: number, df: number, xdf: number, data: Uint8Array): void {
    const { buffer } = this.file;
    const value = putVarint(buffer.bytes, at, data.length * 16 + ((xdf << 2) | df));
    buffer.bytes.set(data, value);
    this.end(value + data.length);
  }

  private whole(
    id: number,
    position: number | bigint,
    value: number | bigint,
    conflict: boolean,
    format: number,
  ): void {
    if (typeof value === 'bigint' || value >= MAX_SMALL_INTEGER || value < -MAX_SMALL_INTEGER) {
      this.sample(id, position, format, 0, bigIntToSint(BigInt(value)), conflict);
      return;
    }
    const at = this.begin(id, position, conflict, 8);
    const { bytes } = this.file.buffer;
    // Six bytes at most: the format is one byte.
    let end = at + 1;
    if (value !== 0) {
      let rest = value;
      while (rest >= 0x8000_0000 || rest < -0x8000_0000) {
        bytes[end++] = rest;
        rest = Math.floor(rest / 256);
      }
      while (rest >= 0x80 || rest < -0x80) {
        bytes[end++] = rest;
        rest >>= 8;
      }
      bytes[end++] = rest;
    }
    bytes[at] = ((end - at - 1) << 4) | format;
    this.end(end);
  }

  /** Item, flags and time; returns where the format goes. The group's time moves on in `end`. */
  private begin(id: number, position: number | bigint, conflict: boolean, room: number): number {
    const group = this.state.groupOf(id);
    if (group === null) throw source(`a value of item ${id}, which is not open`);
    if (id > this.maxItemId) throw source(`item ${id}; ${this.maxItemId} is the highest`);
    const { file } = this;
    if (file.current !== this) file.select(this);
    let delta: number;
    if (Number.isSafeInteger(position)) {
      const time = position as number;
      delta = time - group.positionNumber;
      this.lo = time >>> 0;
      this.hi = Math.floor(time / TWO_32) | 0;
    } else {
      const wide = wholeNumber(position);
      delta = Number(wide - group.position);
      this.lo = Number(BigInt.asUintN(32, wide));
      this.hi = Number(BigInt.asIntN(32, wide >> 32n));
    }
    if (delta < 0 || delta > MAX_DELTA) delta = this.leap(group, delta, position);
    const { buffer } = file;
    buffer.room(room + SAMPLE_HEAD_BYTES);
    const { bytes } = buffer;
    const first = id * 8 + (delta > 0 ? HAS_DELTA : 0) + (conflict ? CONFLICT : 0);
    let { at } = buffer;
    if (first < 0x80) bytes[at++] = first;
    else at = putVarint(bytes, at, first);
    if (delta > 0) {
      if (delta < 0x80) bytes[at++] = delta;
      else at = putVarint(bytes, at, delta);
    }
    this.group = group;
    return at;
  }

  private group: FluxGroup | null = null;
  private lo = 0;
  private hi = 0;

  private end(end: number): void {
    this.file.buffer.commit(end);
    const group = this.group!;
    group.lo = this.lo;
    group.hi = this.hi;
  }

  /** A gap too large for viewers is a position. */
  private leap(group: FluxGroup, delta: number, position: number | bigint): number {
    if (delta < 0) throw source(`time ${position} after ${group.position}`);
    const wide = BigInt(position);
    if (wide !== BigInt.asIntN(64, wide)) throw source(`time ${wide}, which has more than 64 bits`);
    const { file } = this;
    encodeEntry(file.buffer, { tag: FluxTag.CURR, id: group.id, position: wide }, this.maxEntrySize);
    group.moveTo(wide);
    return 0;
  }

  private check(entry: FluxEntry): void {
    if ('id' in entry && entry.id > this.maxItemId) {
      throw source(`item ${entry.id}; ${this.maxItemId} is the highest`);
    }
    const { tag } = entry;
    const needsOpen =
      tag === FluxTag.ENMD || tag === FluxTag.MEMD || tag === FluxTag.ATRE || tag === FluxTag.ATLA;
    if (needsOpen && this.state.groups.size === 0) {
      throw source('enumerations, members, relations and labels before anything is open');
    }
    if (tag === FluxTag.CURR && !this.groupAt(entry.id)) {
      throw source(`the position of item ${entry.id}, which was not opened`);
    }
  }

  private groupAt(id: number): FluxGroup | null {
    return this.state.groups.get(id) ?? this.state.groupOf(id);
  }

  private apply(entry: FluxEntry): void {
    const { state } = this;
    switch (entry.tag) {
      case FluxTag.HEAD:
        state.isSync = true;
        break;
      case FluxTag.SCPD:
        state.define(entry.id, entry.parent, -1);
        break;
      case FluxTag.SIGD:
      case FluxTag.SSGD:
        state.define(entry.id, entry.parent, entry.type);
        break;
      case FluxTag.MSGD:
        state.defineRange(entry.id, entry.idTo, entry.parent, entry.type);
        break;
      case FluxTag.DOMD:
        state.domain = entry.domain;
        break;
      case FluxTag.OPEN:
        state.open(entry.id, entry.domain, entry.start);
        break;
      case FluxTag.CLOS:
        state.close(entry.id);
        break;
      case FluxTag.CURR:
        this.groupAt(entry.id)?.moveTo(entry.position);
        break;
    }
  }
}

const encoder = new TextEncoder();

function within(what: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw source(`a ${what} of ${value}; viewers take ${least} to ${most}`);
}

function wholeNumber(position: number | bigint): bigint {
  if (typeof position === 'bigint' || Number.isInteger(position)) return BigInt(position);
  throw source(`time ${position}`);
}

function source(what: string): UscopeError {
  return new UscopeError('CONVERT_SOURCE', `flux cannot hold ${what}`);
}
