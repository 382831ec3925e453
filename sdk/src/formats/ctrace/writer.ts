/**
 * Writes .ctrace files that Chronon's reader accepts: the schema before the first event, blocks of at least 64 KiB, compressed where that
 * helps, an index at the end. Memory is that of a block, and 40 bytes or so per block for the index.
 */
import { UscopeError } from '../../base/errors.js';
import { canCompressZstd, compressFrame } from '../../codecs/zstd.js';
import { ArgEncoder } from './cursor.js';
import { encodeBlockHeader, encodeFooter, encodeHeader } from './header.js';
import { encodeSchema } from './schema.js';
import {
  BLOCK_BYTES,
  BLOCK_HEADER_BYTES,
  type CtraceBlock,
  CtraceFlag,
  type CtraceSchema,
  type CtraceValue,
  EMPTY_SCHEMA,
  EVENT_HEADER_BYTES,
  HEADER_BYTES,
  MAX_ARGS_BYTES,
  VERSION_MAJOR,
  VERSION_MINOR,
} from './types.js';

const ZSTD_LEVEL = 3;
const U64_MAX = (1n << 64n) - 1n;

export interface CtraceOutput {
  /** Appends. The array may be reused once the promise has resolved. */
  write(bytes: Uint8Array): Promise<void>;
  /** Replaces bytes written before. */
  patch(offset: number, bytes: Uint8Array): Promise<void>;
}

export interface CtraceWriterOptions {
  /** Written before the first event; null: files without schema, of which only numbers can be read. */
  readonly schema?: CtraceSchema | null | undefined;
  /** Default: zstd where the package zstd-napi is installed, else none. */
  readonly compression?: 'zstd' | 'none' | undefined;
  /** Bytes at which a block is closed; default 64 KiB. */
  readonly blockBytes?: number | undefined;
  /** Whether there is an index; without one Chronon's reader sees no events. */
  readonly index?: boolean | undefined;
  /** Unix seconds, for the index; default now. */
  readonly created?: bigint | undefined;
}

/** An event as it is stored, except for its arguments. */
export interface EventHead {
  readonly cycle: bigint;
  readonly formatId: number;
  readonly category: number;
  readonly source: number;
}

export class CtraceWriter {
  private readonly flags: bigint;
  private readonly blockBytes: number;
  private readonly schema: CtraceSchema | null;
  private readonly typesById: ReadonlyMap<number, readonly number[]>;
  private readonly blocks: CtraceBlock[] = [];
  private readonly encoder = new ArgEncoder();
  private buffer: Uint8Array<ArrayBuffer>;
  private view: DataView;
  private used = 0;
  private blockEvents = 0;
  private flushed = 0;
  private blockMin = U64_MAX;
  private blockMax = 0n;
  private offset = 0;
  private schemaBytes = 0;

  constructor(
    private readonly output: CtraceOutput,
    private readonly options: CtraceWriterOptions = {},
  ) {
    const {
      schema = EMPTY_SCHEMA,
      compression = canCompressZstd() ? 'zstd' : 'none',
      index = true,
    } = options;
    this.schema = schema;
    this.flags =
      (compression === 'zstd' ? CtraceFlag.COMPRESSED : 0n) |
      (index ? CtraceFlag.HAS_INDEX : 0n) |
      (schema ? CtraceFlag.HAS_SCHEMA : 0n);
    this.blockBytes = options.blockBytes ?? BLOCK_BYTES;
    this.typesById = new Map(
      [...(schema?.formats ?? [])].reverse().map(({ id, argTypes }) => [id, argTypes]),
    );
    this.buffer = new Uint8Array(this.blockBytes + EVENT_HEADER_BYTES + 1024);
    this.view = new DataView(this.buffer.buffer);
  }

  /** Events taken. */
  get events(): number {
    return this.flushed + this.blockEvents;
  }

  /** Whether `flush` is due. */
  get isFull(): boolean {
    return this.used >= this.blockBytes;
  }

  /** An event of a format in the schema. @throws UscopeError CONVERT_SOURCE, CONVERT_LIMIT */
  event(head: EventHead, values: readonly CtraceValue[]): void {
    const types = this.typesById.get(head.formatId);
    if (!types) {
      throw new UscopeError('CONVERT_SOURCE', `the schema has no format ${head.formatId}; use rawEvent`);
    }
    this.rawEvent(head, values.length, this.encoder.encode(values, types));
  }

  /** An event with its arguments as they are stored. @throws UscopeError CONVERT_LIMIT, CONVERT_SOURCE */
  rawEvent({ cycle, formatId, category, source }: EventHead, argCount: number, args: Uint8Array): void {
    if (args.length > MAX_ARGS_BYTES) {
      const detail = `the arguments of an event take ${args.length} bytes; their size has 16 bits`;
      throw new UscopeError('CONVERT_LIMIT', detail);
    }
    if (argCount > 0xff || source > 0xffff || formatId > 0xffff_ffff || cycle > U64_MAX || cycle < 0n) {
      throw new UscopeError('CONVERT_SOURCE', 'an event with a number that has no room in .ctrace');
    }
    const at = this.reserve(EVENT_HEADER_BYTES + args.length);
    const { view } = this;
    view.setUint16(at, args.length, true);
    view.setBigUint64(at + 2, cycle, true);
    view.setUint32(at + 10, formatId, true);
    view.setUint32(at + 14, category, true);
    view.setUint16(at + 18, source, true);
    view.setUint8(at + 20, argCount);
    this.buffer.fill(0, at + 21, at + EVENT_HEADER_BYTES);
    this.buffer.set(args, at + EVENT_HEADER_BYTES);
    this.blockEvents++;
    if (cycle < this.blockMin) this.blockMin = cycle;
    if (cycle > this.blockMax) this.blockMax = cycle;
  }

  /** Writes the events taken so far as a block. */
  async flush(): Promise<void> {
    if (this.blockEvents === 0) return;
    if (this.blocks.length === 0) await this.begin(this.schema);
    const raw = this.buffer.subarray(0, this.used);
    const stored = this.compressed(raw);
    const block = {
      ...{ index: this.blocks.length, events: this.blockEvents, offset: this.offset },
      ...{ minCycle: this.blockMin, maxCycle: this.blockMax },
      ...{ uncompressedBytes: raw.length, compressedBytes: stored.length },
    };
    await this.output.write(encodeBlockHeader(block));
    await this.output.write(stored);
    this.blocks.push(block);
    this.offset += BLOCK_HEADER_BYTES + stored.length;
    this.flushed += this.blockEvents;
    this.used = this.blockEvents = 0;
    this.blockMin = U64_MAX;
    this.blockMax = 0n;
  }

  /** The index, and the header in its final form. The output is closed by the code that opened it. */
  async close(): Promise<void> {
    await this.flush();
    if (this.blocks.length === 0) await this.begin(hasEntries(this.schema) ? this.schema : null);
    const footer = this.blocks.length > 0 && this.flags & CtraceFlag.HAS_INDEX ? this.footer() : null;
    if (footer) await this.output.write(footer);
    await this.output.patch(0, this.header(footer?.length ?? 0));
  }

  private compressed(raw: Uint8Array): Uint8Array {
    if (!(this.flags & CtraceFlag.COMPRESSED)) return raw;
    const packed = compressFrame(raw, ZSTD_LEVEL);
    return packed.length < raw.length ? packed : raw;
  }

  /** Header without places, as long as the file is not whole, and schema. */
  private async begin(schema: CtraceSchema | null): Promise<void> {
    await this.output.write(this.header(0));
    this.offset = HEADER_BYTES;
    if (!schema) return;
    const bytes = encodeSchema(schema);
    await this.output.write(bytes);
    this.schemaBytes = bytes.length;
    this.offset += bytes.length;
  }

  private header(footerBytes: number): Uint8Array {
    const { schemaBytes, flags } = this;
    return encodeHeader({
      ...{ versionMajor: VERSION_MAJOR, versionMinor: VERSION_MINOR, flags, schemaBytes },
      schemaOffset: schemaBytes > 0 ? HEADER_BYTES : 0,
      firstBlock: schemaBytes > 0 ? HEADER_BYTES + schemaBytes : 0,
      footerOffset: footerBytes > 0 ? this.offset : 0,
      footerBytes,
    });
  }

  private footer(): Uint8Array {
    let [minCycle, maxCycle] = [U64_MAX, 0n];
    for (const block of this.blocks) {
      if (block.minCycle < minCycle) minCycle = block.minCycle;
      if (block.maxCycle > maxCycle) maxCycle = block.maxCycle;
    }
    const created = this.options.created ?? BigInt(Math.floor(Date.now() / 1000));
    const totals = {
      blockCount: this.blocks.length,
      totalEvents: BigInt(this.events),
      minCycle,
      maxCycle,
      created,
    };
    return encodeFooter(this.blocks, totals);
  }

  /** Room at the end of the block; returns where it begins. */
  private reserve(size: number): number {
    const at = this.used;
    if (at + size > this.buffer.length) {
      const grown = new Uint8Array(Math.max(at + size, this.buffer.length * 2));
      grown.set(this.buffer);
      this.buffer = grown;
      this.view = new DataView(grown.buffer);
    }
    this.used += size;
    return at;
  }
}

function hasEntries(schema: CtraceSchema | null): boolean {
  if (!schema) return false;
  const { formats, units, categories, simulationName, configHash } = schema;
  return formats.length + units.length + categories.length > 0 || simulationName !== '' || configHash !== 0n;
}
