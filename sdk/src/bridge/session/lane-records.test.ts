import { closeSync, openSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { TempDirs } from '../../../../test/support/bridge-peer.js';
import { LaneStream } from '../../../../test/support/lane-stream.js';
import { isUscopeError } from '../../base/errors.js';
import { RECORD_WORDS, RecordKind } from '../../format/record.js';
import { payloadWords } from '../wire/data-header.js';
import { MAX_PAYLOAD_BYTES } from '../wire/protocol.js';
import { LaneRecords } from './lane-records.js';
import { MappedFile } from './mapped-file.js';

const VECTORS = new URL('../../../../test/vectors/bridge/', import.meta.url);
const MiB = 1024 * 1024;
const dirs = new TempDirs();
afterEach(() => dirs.cleanUp());

function messageOf(build: (stream: LaneStream) => void): { folded: Uint32Array; plain: number[] } {
  const stream = new LaneStream();
  build(stream);
  return { folded: Uint32Array.from(stream.folded.words), plain: stream.plain.words };
}

/** What comes before an error, and its text. */
function unfold(lanes: LaneRecords, words: Uint32Array): { words: number[]; error: string | null } {
  const unfolded: number[] = [];
  try {
    for (const piece of lanes.unfold(words)) unfolded.push(...piece);
  } catch (error) {
    if (!isUscopeError(error)) throw error;
    return { words: unfolded, error: `${error.code}: ${error.detail}` };
  }
  return { words: unfolded, error: null };
}

/** Golden messages `bad-records-lanes-*`. */
const refused = {
  'add-reserved': 'ADD_LANES at byte 48 of its message: a reserved bit is not 0',
  'add-reserved-32': 'ADD_LANES at byte 48 of its message: a reserved bit is not 0',
  'event-reserved': 'EVENT_LANES at byte 48 of its message: a reserved bit is not 0',
  payload: 'EVENT_LANES at byte 48 of its message: a payload of 9 bytes; at most 8 are allowed',
  shift: 'EVENT_LANES at byte 48 of its message: a shift by 64 bits; at most 63 are allowed',
  slot: 'SET_LANES at byte 48 of its message: slot 65529 with lane 7 is above 65535',
  storage: 'ADD_LANES at byte 48 of its message: storage 65473 with lane 63 is above 65535',
};

describe.each([
  ['machine code', true],
  ['TypeScript', false],
])('lane records, by %s', (_, native) => {
  it('of a message that is 64 times as large as it looks take one piece of memory', () => {
    const words = new Uint32Array(MAX_PAYLOAD_BYTES / 4);
    for (let at = 0; at < words.length; at += RECORD_WORDS)
      words.set([RecordKind.ADD_LANES, 0, 0xffff_ffff, 0xffff_ffff], at);
    const memories = new Set<ArrayBufferLike>();
    let [total, largest] = [0, 0];
    for (const piece of new LaneRecords(native).unfold(words)) {
      memories.add(piece.buffer);
      total += piece.byteLength;
      largest = Math.max(largest, piece.byteLength);
    }
    expect(total).toBe(64 * MiB);
    expect(largest).toBeLessThanOrEqual(MiB / 4);
    expect(memories.size).toBe(1);
  });

  it('know whether the frame they belong to is complete', () => {
    const lanes = new LaneRecords(native);
    const { folded, plain } = messageOf((stream) => {
      stream.begin(0);
      stream.addLanes(1, 0b111n);
      stream.setLanes(0, 0, 0, 0, new Array(8).fill(0));
      stream.end();
    });
    const cut = folded.length - RECORD_WORDS;
    const first = unfold(lanes, folded.subarray(0, cut));
    expect(lanes.isOpen).toBe(true);
    const last = unfold(lanes, folded.subarray(cut));
    expect(lanes.isOpen).toBe(false);
    expect([...first.words, ...last.words]).toEqual(plain);
  });

  it('are forgotten when the stream starts again, and when another frame begins', () => {
    const lanes = new LaneRecords(native);
    const open = () => unfold(lanes, Uint32Array.of(RecordKind.ADD_LANES, 0, 7, 0));
    const end = [RecordKind.END, 0, 0, 0];
    open();
    lanes.restart();
    expect(lanes.isOpen).toBe(false);
    expect(unfold(lanes, Uint32Array.from(end)).words).toEqual(end);
    open();
    const frame = [RecordKind.BEGIN, 0, 0, 0, ...end];
    expect(unfold(lanes, Uint32Array.from(frame)).words).toEqual(frame);
  });

  it('hand out records without payload, empty messages and those of one large record', () => {
    const lanes = new LaneRecords(native);
    expect([...lanes.unfold(new Uint32Array(0))]).toEqual([]);
    const large = new Uint32Array(MAX_PAYLOAD_BYTES / 4).fill(5);
    large.set([RecordKind.SNAPSHOT, MAX_PAYLOAD_BYTES - 16, 0, 0]);
    const [piece, ...more] = lanes.unfold(large);
    expect(more).toEqual([]);
    expect(Buffer.compare(Buffer.from(piece.buffer), Buffer.from(large.buffer))).toBe(0);
  });

  it.each([
    [RecordKind.STRING, 0xffff_ffff],
    [RecordKind.SNAPSHOT, 0x8000_0000],
    [RecordKind.EVENT, 0xffff_fff8],
    [RecordKind.STRING, 33],
  ])('after a record of kind %i that claims %i bytes of payload are part of it', (kind, size) => {
    const { folded } = messageOf((stream) => stream.addLanes(1, 3n));
    const words = Uint32Array.from([...folded, kind, size, 0, 0, ...folded, ...folded]);
    const unfolded = unfold(new LaneRecords(native), words);
    expect(unfolded.words).toEqual([
      ...messageOf((stream) => stream.addLanes(1, 3n)).plain,
      ...words.subarray(RECORD_WORDS),
    ]);
  });

  it.each(Object.entries(refused))(
    'that are not allowed (%s) are refused, behind what is before',
    (name, text) => {
      const bytes = readFileSync(new URL(`bad-records-lanes-${name}.bin`, VECTORS));
      const words = payloadWords(new Uint8Array(bytes));
      const before = [...words.subarray(0, 12)];
      expect(unfold(new LaneRecords(native), words)).toEqual({
        words: before,
        error: `BRIDGE_RECORD: ${text}`,
      });
    },
  );

  it('in a file that becomes shorter end where it does', () => {
    const path = join(dirs.make(), 'records');
    const page = 4096;
    const { folded, plain } = messageOf((stream) => {
      for (let i = 0; i < (2 * page) / 16; i++) stream.addLanes(1, 3n);
    });
    writeFileSync(path, folded);
    const fd = openSync(path, 'r');
    const mapped = MappedFile.open(fd, 2 * page)!;
    closeSync(fd);
    truncateSync(path, page);
    const { words } = unfold(new LaneRecords(native), mapped.words(0, 2 * page)!);
    expect(words).toEqual([...plain.slice(0, plain.length / 2), ...new Array(page / 4).fill(0)]);
    mapped.close();
  });
});

it('no golden message with lane records that are not allowed is left out', () => {
  const names = readdirSync(VECTORS).flatMap((file) => /^bad-records-lanes-(.*)\.bin$/.exec(file)?.[1] ?? []);
  const byTheWriter = ['items', 'unannounced'];
  expect(names.sort()).toEqual([...Object.keys(refused), ...byTheWriter].sort());
});
