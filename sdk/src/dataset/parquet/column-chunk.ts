/** The pages of one column in a row group, encoded and compressed. */
import { appendAll } from '../../base/arrays.js';
import type { PageCodec } from './compression.js';
import type { Levels, ParquetKernel } from './kernel/parquet-kernel.js';
import { type Leaf, PhysicalType } from './schema.js';
import { ThriftWriter } from './thrift.js';

/** As Parquet numbers them. */
export const Encoding = { PLAIN: 0, RLE: 3, DELTA_BINARY_PACKED: 5, RLE_DICTIONARY: 8 } as const;
export type Encoding = (typeof Encoding)[keyof typeof Encoding];
const PageType = { DATA: 0, DICTIONARY: 2 } as const;

/** What the footer says of a chunk. Offsets are those in the file. */
export interface ChunkPlace {
  readonly leaf: Leaf;
  readonly encodings: readonly Encoding[];
  readonly codec: number;
  readonly values: number;
  readonly nulls: number;
  readonly rawBytes: number;
  readonly bytes: number;
  readonly dataOffset: number;
  readonly dictionaryOffset: number | null;
  readonly bounds: readonly [lowest: Uint8Array, highest: Uint8Array] | null;
}

/** Of values as the file has them in a dictionary or as bounds. */
export interface DictionaryPage {
  readonly count: number;
  readonly bytes: Uint8Array;
  readonly bounds: readonly [lowest: Uint8Array, highest: Uint8Array] | null;
}

export class ColumnChunk {
  private pages: Uint8Array[] = [];
  private readonly encodings = new Set<Encoding>([Encoding.RLE]);
  private values = 0;
  private nulls = 0;
  private rawBytes = 0;
  private held = 0;
  private lowest: bigint | null = null;
  private highest: bigint | null = null;

  constructor(
    readonly leaf: Leaf,
    private readonly codec: PageCodec,
  ) {}

  /** Of the compressed pages. */
  get bytes(): number {
    return this.held;
  }

  /** @param present values in the body @param putBody puts these values in the encoding */
  addPage(
    kernel: ParquetKernel,
    levels: Levels,
    present: number,
    putBody: () => void,
    encoding: Encoding,
  ): void {
    const { maxDefinition, maxRepetition } = this.leaf;
    kernel.beginPage();
    if (maxRepetition > 0) kernel.putLevels(levels.repetition, levels.count, 1);
    kernel.putLevels(levels.definition, levels.count, 32 - Math.clz32(maxDefinition));
    putBody();
    this.encodings.add(encoding);
    this.values += levels.count;
    this.nulls += levels.count - present;
    appendAll(
      this.pages,
      this.page(PageType.DATA, kernel.page(), (header) =>
        header.struct(5, (data) =>
          data.i32(1, levels.count).i32(2, encoding).i32(3, Encoding.RLE).i32(4, Encoding.RLE),
        ),
      ),
    );
  }

  /** Of a column of numbers: statistics of a page. */
  noteBounds([lowest, highest]: readonly [bigint, bigint]): void {
    if (this.lowest === null || lowest < this.lowest) this.lowest = lowest;
    if (this.highest === null || highest > this.highest) this.highest = highest;
  }

  /**
   * All bytes, and what the footer says of them; the chunk begins again.
   * @param offset of the first byte in the file
   */
  finish(dictionary: DictionaryPage | null, offset: number): { bytes: Uint8Array[]; place: ChunkPlace } {
    const data = this.pages;
    this.pages = [];
    const first =
      dictionary === null || dictionary.count === 0
        ? []
        : this.page(PageType.DICTIONARY, dictionary.bytes, (header) =>
            header.struct(7, (page) => page.i32(1, dictionary.count).i32(2, Encoding.PLAIN)),
          );
    if (first.length > 0) this.encodings.add(Encoding.PLAIN);
    const place: ChunkPlace = {
      leaf: this.leaf,
      encodings: [...this.encodings].sort((a, b) => a - b),
      codec: this.codec.id,
      values: this.values,
      nulls: this.nulls,
      rawBytes: this.rawBytes,
      bytes: this.held,
      dataOffset: offset + first.reduce((sum, { length }) => sum + length, 0),
      dictionaryOffset: first.length > 0 ? offset : null,
      bounds: dictionary ? dictionary.bounds : this.bounds(),
    };
    this.restart();
    return { bytes: [...first, ...data], place };
  }

  private restart(): void {
    this.encodings.clear();
    this.encodings.add(Encoding.RLE);
    this.values = 0;
    this.nulls = 0;
    this.rawBytes = 0;
    this.held = 0;
    this.lowest = null;
    this.highest = null;
  }

  private bounds(): readonly [Uint8Array, Uint8Array] | null {
    const { lowest, highest } = this;
    if (this.leaf.type !== PhysicalType.INT64 || lowest === null || highest === null) return null;
    return [int64Bytes(lowest), int64Bytes(highest)];
  }

  private page(type: number, raw: Uint8Array, describe: (header: ThriftWriter) => void): Uint8Array[] {
    const packed = this.codec.compress(raw);
    const writer = new ThriftWriter().i32(1, type).i32(2, raw.length).i32(3, packed.length);
    describe(writer);
    const header = writer.end();
    this.rawBytes += header.length + raw.length;
    this.held += header.length + packed.length;
    return [header, packed];
  }
}

export function int64Bytes(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, value, true);
  return bytes;
}
