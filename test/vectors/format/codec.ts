/** Between the JSON of golden vectors and the values of sdk/src/format: 64-bit integers are decimal strings there, bytes hex. */

import { crc32 } from '../../../sdk/src/base/crc32.js';
import { UscopeError } from '../../../sdk/src/base/errors.js';
import * as format from '../../../sdk/src/format/index.js';
import { decodeFrames } from '../../support/decode-frames.js';
import {
  decodeSegmentTable,
  encodeSegmentTable,
  encodeStringTable,
  StringTable,
} from '../../support/format-tables.js';
import { decodeFile, encodeFile } from './codec-file.js';
import { fromHex, toHex } from './source/hex.js';
import type { Json } from './source/vector.js';

export type Context = { [key: string]: Json };

interface Codec {
  decode(bytes: Uint8Array, context: Context): unknown;
  /** `value` has been revived: bigints and byte arrays in place of strings. */
  encode(value: never, context: Context): Uint8Array;
}

/** Keys whose decimal strings are 64-bit integers, and whose hex strings are bytes. `value` of an enum is a plain number. */
const INTEGERS = new Set(
  (
    'totalTimePs sectionTableOffset tailOffset checkpointIntervalPs startTimeMs endTimeMs lost rejected timeStartPs timeEndPs ' +
    'prevSegmentOffset timePs value segmentOffset nextFrame nextString totalInstructions offset size'
  ).split(' '),
);
const BYTES = new Set('sessionId runId payload mask slotData propertyData lz4Block'.split(' '));
const COLUMNS = new Set(['min', 'max', 'sum']);

/** JSON to values: what the encoders take. */
function revive(value: Json, key = ''): unknown {
  if (typeof value === 'string')
    return INTEGERS.has(key) ? BigInt(value) : BYTES.has(key) ? fromHex(value) : value;
  if (Array.isArray(value)) {
    if (COLUMNS.has(key)) return BigUint64Array.from(value as string[], BigInt);
    if (key === 'density') return (value as number[][]).map((level) => Uint32Array.from(level));
    return value.map((entry) => revive(entry));
  }
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([name, entry]) => [name, reviveEntry(value, name, entry)]);
  return Object.fromEntries(entries);
}

/** The strings of a commit record are bytes, those of a file's string table are text. */
function reviveEntry(owner: { [key: string]: Json }, name: string, entry: Json): unknown {
  if (name === 'strings' && 'crc' in owner) return (entry as string[]).map(fromHex);
  return revive(entry, name);
}

/** Values to JSON: what the decoders return. */
export function toJson(value: unknown): Json {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return toHex(value);
  if (value instanceof Uint32Array) return [...value];
  if (value instanceof BigUint64Array) return [...value].map(String);
  if (Array.isArray(value)) return value.map(toJson);
  if (value === null || typeof value !== 'object') return value as Json;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, toJson(entry)]));
}

function decodeChecksumChunk(bytes: Uint8Array): format.Checksums {
  if (!format.isChecksumPayload(bytes)) throw new UscopeError('FORMAT_VERSION', 'no checksums of layout 1');
  return format.decodeChecksums(bytes);
}

const codecs: Record<string, Codec> = {
  header: { decode: format.decodeHeader, encode: format.encodeHeader },
  preamble: {
    decode: (bytes, context) => format.decodePreamble(bytes, context.versionMinor as number),
    encode: (value: format.Preamble) => format.encodePreamble(value).bytes,
  },
  'session-chunk': {
    decode: (bytes) => format.decodeSessionInfo(bytes),
    encode: format.encodeSessionInfo,
  },
  'checksum-chunk': { decode: decodeChecksumChunk, encode: format.encodeChecksums },
  'trace-config': {
    decode: (bytes) => format.decodeTraceConfig(bytes),
    encode: (value: string) => format.encodeTraceConfig(BigInt(value)),
  },
  dut: {
    decode: (bytes, context) =>
      format.decodeDut(bytes, new format.StringPool(fromHex(context.pool as string))),
    encode: encodeDutAlone,
  },
  schema: {
    decode: (bytes, context) => format.decodeSchemaPayload(bytes, context.versionMinor as number),
    encode: (value: format.Schema) => format.encodeSchemaPayload(value, []).schema,
  },
  'segment-header': {
    decode: (bytes) => format.decodeSegmentHeader(bytes),
    encode: format.encodeSegmentHeader,
  },
  checkpoint: {
    decode: (bytes, context) => format.decodeCheckpoint(bytes, schemaOf(context)),
    encode: (value: format.CheckpointBlock[], context) => format.encodeCheckpoint(schemaOf(context), value),
  },
  frames: { decode: decodeFramesOf, encode: encodeFramesOf },
  'commit-record': { decode: decodeCommit, encode: encodeCommit },
  'string-table': {
    decode: (bytes) => allStrings(new StringTable(bytes)),
    encode: encodeStringTable,
  },
  'segment-table': {
    decode: (bytes) => decodeSegmentTable(bytes),
    encode: encodeSegmentTable,
  },
  'section-table': {
    decode: (bytes) => format.decodeSectionTable(bytes),
    encode: format.encodeSectionTable,
  },
  summary: { decode: (bytes) => format.decodeTraceSummary(bytes), encode: format.encodeTraceSummary },
  lz4: {
    decode: (bytes, context) => format.decompressLz4Blob(bytes, context.rawSize as number),
    encode: () => {
      throw new Error('compressors are not part of the format package');
    },
  },
  file: { decode: decodeFile, encode: encodeFile },
};

/** Decodes a vector's bytes to JSON; throws what the decoder throws. */
export function decode(structure: string, bytes: Uint8Array, context: Context): Json {
  return toJson(codecs[structure].decode(bytes, context));
}

/** Encodes a vector's JSON value. */
export function encode(structure: string, value: Json, context: Context): Uint8Array {
  return codecs[structure].encode(revive(value) as never, context);
}

export function allStrings(table: StringTable): string[] {
  return Array.from({ length: table.length }, (_, index) => table.get(index));
}

function schemaOf(context: Context): format.Schema {
  return revive(context.schema) as format.Schema;
}

function encodeDutAlone(value: format.DutProperties, context: Context): Uint8Array {
  const pool = new format.StringPoolBuilder();
  const bytes = format.encodeDut(value, pool);
  if (toHex(pool.finish()) !== context.pool) throw new Error('the pool differs');
  return bytes;
}

function decodeFramesOf(bytes: Uint8Array, context: Context): format.Frame[] {
  const start = BigInt(context.timeStartPs as string);
  return decodeFrames(bytes, start, undefined, context.interleaved === true);
}

function encodeFramesOf(frames: format.Frame[], context: Context): Uint8Array {
  const start = BigInt(context.timeStartPs as string);
  return context.interleaved
    ? format.encodeFrames(frames, start)
    : format.encodeFramesV01(frames, start, context.allowCompact as boolean);
}

function decodeCommit(bytes: Uint8Array, context: Context): format.CommitRecord {
  if (!format.verifyCommitRecord(fromHex(context.segment as string), bytes))
    throw new UscopeError('FORMAT_CHECKSUM', 'crc differs');
  return format.decodeCommitRecord(bytes);
}

function encodeCommit(value: format.CommitRecord, context: Context): Uint8Array {
  return format.encodeCommitRecord(value, crc32(fromHex(context.segment as string)));
}
