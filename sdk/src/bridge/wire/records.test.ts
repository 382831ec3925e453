/** The golden records, against the helpers that writers of records use and the layout that readers of records use. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bytesOf } from '../../../../test/support/bridge-peer.js';
import {
  EVENT_INLINE_BYTES,
  eventExtraRecords,
  payloadRecords,
  RECORD_WORDS,
  RecordKind,
} from '../../format/record.js';
import type { Action } from '../../format/types.js';
import { RecordBatch } from '../../writer/records/record-batch.js';
import { LaneRecords } from '../session/lane-records.js';
import { countItems } from '../session/unfold-lanes.js';
import { payloadWords } from './data-header.js';

const VECTORS = new URL('../../../../test/vectors/bridge/', import.meta.url);

type JsonRecord = Record<string, unknown> & { kind: string };

const vectors = readdirSync(VECTORS)
  .filter((file) => /^records-.*\.bin$/.test(file))
  .map((file) => {
    const json = readFileSync(new URL(file.replace(/bin$/, 'json'), VECTORS), 'utf8');
    const { records, unfolded = records } = JSON.parse(json) as Record<string, JsonRecord[]>;
    return { name: file, records, unfolded, bytes: readFileSync(new URL(file, VECTORS)) };
  });

const hex = (bytes: Uint8Array): { hex: string } => ({ hex: Buffer.from(bytes).toString('hex') });

/** One record at word `at` in the form of the vectors, and its length in words. */
function decode(words: Uint32Array, at: number): [record: JsonRecord, length: number] {
  const [word0, word1, lo, hi] = words.subarray(at, at + RECORD_WORDS);
  const wide = String((BigInt(hi) << 32n) | BigInt(lo));
  const bytes = new Uint8Array(words.buffer, words.byteOffset);
  const payload = (from: number, size: number): Uint8Array => bytes.subarray(from, from + size);
  const behind = (at + RECORD_WORDS) * 4;
  switch (word0 & 0xff) {
    case RecordKind.OP:
      return [
        {
          kind: 'op',
          action: (word0 >>> 8) & 0xff,
          storage: word0 >>> 16,
          slot: word1 & 0xffff,
          field: word1 >>> 16,
          value: wide,
        },
        RECORD_WORDS,
      ];
    case RecordKind.EVENT:
      return [
        { kind: 'event', type: word0 >>> 16, payload: hex(payload(behind - EVENT_INLINE_BYTES, word1)) },
        RECORD_WORDS * (1 + eventExtraRecords(word1)),
      ];
    case RecordKind.ADD_LANES:
      return [{ kind: 'add_lanes', storage: word0 >>> 16, lanes: wide }, RECORD_WORDS];
    case RecordKind.SET_LANES:
      return [
        {
          kind: 'set_lanes',
          lanes: (word0 >>> 8) & 0xff,
          storage: word0 >>> 16,
          slot: word1 & 0xffff,
          field: word1 >>> 16,
          values: hex(payload(behind - 8, 8)),
        },
        RECORD_WORDS,
      ];
    case RecordKind.EVENT_LANES:
      return [
        {
          kind: 'event_lanes',
          lanes: (word0 >>> 8) & 0xff,
          type: word0 >>> 16,
          size: word1 & 0xff,
          shift: word1 >>> 8,
          values: hex(payload(behind - 8, 8)),
        },
        RECORD_WORDS,
      ];
    case RecordKind.BEGIN:
      return [{ kind: 'begin', time_ps: wide }, RECORD_WORDS];
    case RecordKind.END:
      return [{ kind: 'end', items: word1, ordinal: wide }, RECORD_WORDS];
    case RecordKind.STRING:
      return [
        { kind: 'string', index: wide, text: Buffer.from(payload(behind, word1)).toString() },
        RECORD_WORDS * (1 + payloadRecords(word1)),
      ];
    default:
      return [
        { kind: 'snapshot', storage: word0 >>> 16, offset: lo, total: hi, part: hex(payload(behind, word1)) },
        RECORD_WORDS * (1 + payloadRecords(word1)),
      ];
  }
}

function encode(batch: RecordBatch, record: JsonRecord): void {
  const number = (key: string): number => record[key] as number;
  const wide = (key: string): bigint => BigInt(record[key] as string);
  if (record.kind === 'begin') batch.begin(wide('time_ps'));
  else if (record.kind === 'end') batch.end(number('items'), Number(wide('ordinal')));
  else if (record.kind === 'op') {
    const value = wide('value');
    const [lo, hi] = [Number(value & 0xffff_ffffn), Number(value >> 32n)];
    batch.op(number('action') as Action, number('storage'), number('slot'), number('field'), lo, hi);
  } else if (record.kind === 'event') {
    const payload = Buffer.from((record.payload as { hex: string }).hex, 'hex');
    const { view, offset } = batch.event(number('type'), payload.length);
    new Uint8Array(view.buffer).set(payload, offset);
  } else {
    batch.string(Number(wide('index')), Buffer.from(record.text as string));
  }
}

function decodeAll(words: Uint32Array): JsonRecord[] {
  const decoded: JsonRecord[] = [];
  for (let at = 0; at < words.length; ) {
    const [record, length] = decode(words, at);
    decoded.push(record);
    at += length;
  }
  return decoded;
}

describe('golden records', () => {
  it('are four', () => {
    expect(vectors.map(({ name }) => name)).toEqual([
      'records-frame.bin',
      'records-lanes.bin',
      'records-snapshot.bin',
      'records-string.bin',
    ]);
  });

  it.each(vectors)('$name is decoded', ({ records, unfolded, bytes }) => {
    const words = payloadWords(new Uint8Array(bytes));
    expect(decodeAll(words)).toEqual(records);
    const items = unfolded.filter(({ kind }) => kind === 'op' || kind === 'event').length;
    expect(countItems(words)).toBe(BigInt(items));
  });

  it.each(vectors.flatMap((vector) => [true, false].map((native) => ({ ...vector, native }))))(
    '$name is unfolded (machine code: $native)',
    ({ unfolded, bytes, native }) => {
      const words = payloadWords(new Uint8Array(bytes));
      const pieces = Array.from(new LaneRecords(native).unfold(words), decodeAll);
      expect(pieces).toEqual([unfolded]);
    },
  );

  // The in-process writer never splits a snapshot, and folds nothing.
  it.each(vectors.filter(({ name }) => !/snapshot|lanes/.test(name)))(
    '$name is encoded',
    ({ records, bytes }) => {
      const batch = new RecordBatch();
      for (const record of records) encode(batch, record);
      expect(Buffer.from(bytesOf(batch)).toString('hex')).toBe(bytes.toString('hex'));
    },
  );
});
