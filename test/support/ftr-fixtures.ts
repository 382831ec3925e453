/** A recording with everything that the format has, for tests. */

import type { ByteSource } from '../../sdk/src/codecs/byte-source.js';
import { MemoryOutput } from '../../sdk/src/formats/common/foreign-format.js';
import { CborWriter } from '../../sdk/src/formats/ftr/cbor.js';
import { relationEntries } from '../../sdk/src/formats/ftr/content.js';
import { encodeChunk } from '../../sdk/src/formats/ftr/encode.js';
import { FtrModel } from '../../sdk/src/formats/ftr/model.js';
import { FtrFile } from '../../sdk/src/formats/ftr/reader.js';
import { TransactionCursor } from '../../sdk/src/formats/ftr/transaction-cursor.js';
import {
  type FtrAttribute,
  type FtrChunk,
  type FtrPhase,
  type FtrRelation,
  type FtrTransaction,
  FtrType,
  type FtrValue,
  MAGIC,
} from '../../sdk/src/formats/ftr/types.js';
import { FtrWriter, type FtrWriterOptions } from '../../sdk/src/formats/ftr/writer.js';

export interface Recording {
  readonly streams: readonly (readonly [id: bigint, name: string | Uint8Array, kind: string])[];
  readonly generators: readonly (readonly [id: bigint, name: string, stream: bigint])[];
  readonly transactions: readonly FtrTransaction[];
  readonly relations: readonly FtrRelation[];
}

const attribute = (phase: FtrPhase, name: string, type: FtrType, value: FtrValue): FtrAttribute => ({
  phase,
  name,
  type,
  value,
});

/** One of every type, strange texts, ids and times of 64 bits, an end before its start, an id that dangles. */
export function everything(): Recording {
  const attributes = [
    attribute(0, 'flag', FtrType.BOOLEAN, true),
    attribute(0, 'colour', FtrType.ENUMERATION, 'RED'),
    attribute(0, 'least', FtrType.INTEGER, -(1n << 63n)),
    attribute(1, 'minus', FtrType.INTEGER, -256n),
    attribute(1, 'size', FtrType.UNSIGNED, 255n),
    attribute(1, 'size', FtrType.UNSIGNED, (1n << 64n) - 1n),
    attribute(1, 'half', FtrType.FLOATING_POINT_NUMBER, 1.5),
    attribute(1, 'tenth', FtrType.FLOATING_POINT_NUMBER, 0.1),
    attribute(1, 'nothing', FtrType.FLOATING_POINT_NUMBER, Number.NaN),
    attribute(1, 'bits', FtrType.BIT_VECTOR, '0101'),
    attribute(1, 'logic', FtrType.LOGIC_VECTOR, '01XZ'),
    attribute(1, 'fixed', FtrType.FIXED_POINT_INTEGER, -2.25),
    attribute(1, 'ufixed', FtrType.UNSIGNED_FIXED_POINT_INTEGER, 2.25),
    attribute(1, 'pointer', FtrType.POINTER, 0x7ffd_eadb_eef0n),
    attribute(1, 'µ→é', FtrType.STRING, ''),
    attribute(1, 'raw', FtrType.STRING, Uint8Array.of(0xe9, 0xff)),
    attribute(1, 'nul', FtrType.STRING, 'a\0b'),
    attribute(2, 'result', FtrType.STRING, 'ok'),
    attribute(2, 'took', FtrType.TIME, 12_345n),
  ];
  const far = (1n << 64n) - 2n;
  const transaction = (id: bigint, generator: bigint, start: bigint, end: bigint): FtrTransaction => ({
    id,
    stream: generator === 301n ? 300n : 1n,
    generator,
    start,
    end,
    attributes: [],
  });
  return {
    streams: [
      [1n, 'top.bus', 'transactor'],
      [300n, Uint8Array.of(0x73, 0xff), ''],
    ],
    generators: [
      [2n, 'read', 1n],
      [3n, 'read.events', 1n],
      [4n, 'read', 1n],
      [301n, '', 300n],
    ],
    transactions: [
      { ...transaction(2n, 3n, 110n, 110n), attributes: [attribute(0, 'name', FtrType.STRING, 'evA')] },
      { ...transaction(1n, 2n, 100n, 200n), attributes },
      transaction(5n, 4n, 150n, 120n),
      transaction(1n << 40n, 301n, far, far + 1n),
    ],
    relations: [
      { name: 'parent_of', source: 1n, sink: 2n, sourceStream: 1n, sinkStream: 1n },
      { name: 'dangling', source: 999n, sink: 77n, sourceStream: 1n, sinkStream: 300n },
    ],
  };
}

export async function written(recording: Recording, options: FtrWriterOptions = {}): Promise<Uint8Array> {
  const output = new MemoryOutput();
  const writer = new FtrWriter(output, { epoch: 1_763_637_798n, ...options });
  for (const [id, name, kind] of recording.streams) writer.stream(id, name, kind);
  for (const [id, name, stream] of recording.generators) writer.generator(id, name, stream);
  for (const transaction of recording.transactions) writer.transaction(transaction);
  for (const relation of recording.relations) writer.relation(relation);
  await writer.close();
  return output.bytes;
}

export function encoded(chunks: readonly FtrChunk[], isCompressed = false): Uint8Array {
  const out = new CborWriter();
  out.raw(Uint8Array.from(MAGIC));
  for (const chunk of chunks) encodeChunk(out, chunk, isCompressed);
  out.byte(0xff);
  return out.written.slice();
}

/** What a file says, in no order but that of attributes and declarations. */
export async function contentOf(source: ByteSource) {
  const file = await FtrFile.open(source);
  const model = new FtrModel();
  const transactions: FtrTransaction[] = [];
  const relations: FtrRelation[] = [];
  for await (const chunk of file.chunks()) {
    if (model.take(chunk)) continue;
    if (chunk.kind === 'relations')
      for (const raw of relationEntries(chunk)) relations.push(model.relation(raw));
    else {
      const cursor = new TransactionCursor(chunk);
      while (cursor.next()) transactions.push(model.transaction(cursor, chunk.stream));
    }
  }
  const byId = (a: FtrTransaction, b: FtrTransaction): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
  const byEnds = (a: FtrRelation, b: FtrRelation): number =>
    Number(a.source - b.source) || Number(a.sink - b.sink) || (String(a.name) < String(b.name) ? -1 : 1);
  return {
    info: model.info,
    hasInfo: model.hasInfo,
    declarations: model.declarations,
    transactions: transactions.sort(byId),
    relations: relations.sort(byEnds),
  };
}
