/** A Parquet file that grows by row groups. Nothing is open between two of them: an export writes many files at a time. */

import { appendFile, writeFile } from 'node:fs/promises';
import { appendAll } from '../../base/arrays.js';
import type { ChunkPlace, ColumnChunk, DictionaryPage } from './column-chunk.js';
import { flattened, leavesOf, type SchemaNode, writeNode } from './schema.js';
import { ThriftWriter } from './thrift.js';

const MAGIC = Buffer.from('PAR1');
const CREATED_BY = 'uscope';
/** Of the footer's metadata: the columns, separated by commas. */
export const UNSIGNED_KEY = 'uscope.unsigned';
/** Of the format: the second one has the delta encodings. */
const VERSION = 2;

interface RowGroup {
  readonly rows: number;
  readonly offset: number;
  readonly chunks: readonly ChunkPlace[];
}

export class ParquetFile {
  private readonly groups: RowGroup[] = [];
  /** Of the next row group. */
  private offset = MAGIC.length;

  constructor(
    readonly path: string,
    private readonly nodes: readonly SchemaNode[],
    /** Names of columns whose numbers have no sign. */
    private readonly unsigned: readonly string[] = [],
  ) {}

  get rows(): number {
    return this.groups.reduce((sum, group) => sum + group.rows, 0);
  }

  /** @param chunks one for each leaf of the schema, in their order */
  async addGroup(
    rows: number,
    chunks: readonly ColumnChunk[],
    dictionaries: readonly (DictionaryPage | null)[],
  ): Promise<void> {
    const { offset } = this;
    const parts: Uint8Array[] = [];
    let at = offset;
    const places = chunks.map((chunk, index) => {
      const { bytes, place } = chunk.finish(dictionaries[index], at);
      appendAll(parts, bytes);
      at += place.bytes;
      return place;
    });
    await this.append(parts);
    this.groups.push({ rows, offset, chunks: places });
  }

  async close(): Promise<void> {
    const footer = this.footer();
    const length = Buffer.alloc(4);
    length.writeUInt32LE(footer.length);
    await this.append([footer, length, MAGIC]);
  }

  private async append(parts: readonly Uint8Array[]): Promise<void> {
    const isNew = this.groups.length === 0;
    const bytes = Buffer.concat(isNew ? [MAGIC, ...parts] : parts);
    await (isNew ? writeFile : appendFile)(this.path, bytes);
    this.offset += isNew ? bytes.length - MAGIC.length : bytes.length;
  }

  private footer(): Uint8Array {
    const { nodes, groups, rows } = this;
    return (
      new ThriftWriter()
        .i32(1, VERSION)
        .structs(2, [{ isRoot: true as const }, ...flattened(nodes)], (writer, node) => {
          if ('isRoot' in node) writer.text(4, 'schema').i32(5, nodes.length);
          else writeNode(writer, node);
        })
        .i64(3, rows)
        .structs(4, groups, writeGroup)
        .structs(5, this.unsigned.length > 0 ? [this.unsigned.join(',')] : [], (writer, names) =>
          writer.text(1, UNSIGNED_KEY).text(2, names),
        )
        .text(6, CREATED_BY)
        // Without it, readers do not trust the bounds of texts.
        .structs(7, leavesOf(nodes), (writer) => writer.struct(1, () => undefined))
        .end()
    );
  }
}

function writeGroup(writer: ThriftWriter, { rows, offset, chunks }: RowGroup): void {
  const sum = (bytes: (chunk: ChunkPlace) => number): number =>
    chunks.reduce((total, chunk) => total + bytes(chunk), 0);
  writer
    .structs(1, chunks, writeChunk)
    .i64(
      2,
      sum(({ rawBytes }) => rawBytes),
    )
    .i64(3, rows)
    .i64(5, offset)
    .i64(
      6,
      sum(({ bytes }) => bytes),
    );
}

function writeChunk(writer: ThriftWriter, chunk: ChunkPlace): void {
  const { dictionaryOffset, dataOffset, bounds } = chunk;
  writer.i64(2, dictionaryOffset ?? dataOffset).struct(3, (data) => {
    data
      .i32(1, chunk.leaf.type)
      .i32s(2, chunk.encodings)
      .texts(3, chunk.leaf.path)
      .i32(4, chunk.codec)
      .i64(5, chunk.values)
      .i64(6, chunk.rawBytes)
      .i64(7, chunk.bytes)
      .i64(9, dataOffset);
    if (dictionaryOffset !== null) data.i64(11, dictionaryOffset);
    data.struct(12, (statistics) => {
      statistics.i64(3, chunk.nulls);
      if (bounds) statistics.binary(5, bounds[1]).binary(6, bounds[0]);
    });
  });
}
