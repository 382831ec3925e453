import { describe, expect, test } from 'vitest';
import { decodeFrames } from '../../../test/support/decode-frames.js';
import { CursorItem, encodeFrames, FrameCursor } from './frame.js';
import { encodeFramesV01 } from './frame-v01.js';
import { Action, FieldType, type Frame, type Item, type Schema } from './types.js';

const op = (value: bigint, storageId = 0, action: Action = Action.SET): Item => ({
  kind: 'op',
  action,
  storageId,
  slot: 3,
  field: 1,
  value,
});
const event = (...payload: number[]): Item => ({
  kind: 'event',
  eventTypeId: 2,
  payload: Uint8Array.from(payload),
});
const at = (timePs: bigint, ...items: Item[]): Frame => ({ timePs, items });
const coded = (code: string, offset?: number) =>
  expect.objectContaining(offset === undefined ? { code } : { code, place: { offset } });

describe('encoding', () => {
  test.each([
    ['compact at the limits', [op(65_535n, 255)], 9],
    ['wide for a value', [op(65_536n)], 16],
    ['wide for a storage', [op(0n, 256)], 16],
    ['all wide when one is', [op(0n), op(65_536n)], 32],
    ['events beside compact ops', [op(0n), event(1, 2)], 9 + 10],
    ['CLEAR ignores its value', [op(2n ** 40n, 0, Action.CLEAR)], 9],
  ])('%s', (_, items, size) => {
    expect(encodeFrames([at(5n, ...items)], 0n).length).toBe(3 + size);
  });

  test('time must not run backwards', () => {
    expect(() => encodeFrames([at(5n), at(4n)], 0n)).toThrow(coded('FORMAT_VALUE'));
    expect(() => encodeFrames([at(5n)], 6n)).toThrow(coded('FORMAT_VALUE'));
  });

  test('a frame holds 65,535 items', () => {
    const items = (count: number) => Array<Item>(count).fill(op(0n));
    expect(decodeFrames(encodeFrames([at(0n, ...items(65_535))], 0n), 0n)[0].items.length).toBe(65_535);
    expect(() => encodeFrames([at(0n, ...items(65_536))], 0n)).toThrow(coded('FORMAT_LENGTH'));
  });
});

describe('FrameCursor', () => {
  test('stops at every frame, op and event, and says what each holds', () => {
    const blob = encodeFrames(
      [at(1000n, op(7n), event(9, 8)), at(1000n), at(2n ** 40n, op(-1n + 2n ** 64n, 300))],
      0n,
    );
    const cursor = new FrameCursor(blob, 0n, true);
    const seen: unknown[] = [];
    while (cursor.next()) {
      if (cursor.kind === CursorItem.FRAME) seen.push([cursor.timePs, cursor.time, cursor.numItems]);
      else if (cursor.kind === CursorItem.OP) {
        seen.push([
          cursor.action,
          cursor.storageId,
          cursor.slot,
          cursor.field,
          cursor.lo,
          cursor.hi,
          cursor.value,
        ]);
      } else seen.push([cursor.eventType, cursor.payloadSize, [...cursor.payload]]);
    }
    expect(seen).toEqual([
      [1000n, 1000, 2],
      [1, 0, 3, 1, 7, 0, 7n],
      [2, 2, [9, 8]],
      [1000n, 1000, 0],
      [2n ** 40n, 2 ** 40, 1],
      [1, 300, 3, 1, 0xffff_ffff, 0xffff_ffff, 2n ** 64n - 1n],
    ]);
    expect(cursor.frames).toBe(3);
    expect(cursor.offset).toBe(blob.length);
    expect(cursor.next()).toBe(false);
  });

  test('an event payload ends with the blob, and names its place in it', () => {
    const cursor = new FrameCursor(encodeFrames([at(0n, event(4, 5, 6))], 0n), 0n, true);
    cursor.next();
    cursor.next();
    expect([cursor.payloadOffset, cursor.payloadSize]).toEqual([11, 3]);
  });

  test('adds deltas exactly across 32 bits', () => {
    const start = 0xffff_ffff_ffff_fff0n;
    const times = [2n ** 32n - 1n, 2n ** 32n, 2n ** 33n + 5n, 2n ** 53n + 1n, start, start + 15n];
    const blob = encodeFrames(
      times.map((time) => at(time)),
      1n,
    );
    expect(decodeFrames(blob, 1n).map((frame) => frame.timePs)).toEqual(times);
  });

  test('time past 64 bits is FORMAT_VALUE, by a long delta too', () => {
    const blob = encodeFrames([at(2n ** 64n - 1n)], 0n);
    expect(() => decodeFrames(blob, 1n)).toThrow(coded('FORMAT_VALUE', 0));
    const beyond = Uint8Array.of(...Array(9).fill(0xff), 0x02, 0, 0);
    expect(() => decodeFrames(beyond, 0n)).toThrow(coded('FORMAT_VALUE', 0));
    expect(() => decodeFrames(new Uint8Array(12).fill(0x80), 0n)).toThrow(coded('FORMAT_VALUE', 0));
  });

  test.each([true, false])(
    'a blob cut anywhere but between frames is FORMAT_TRUNCATED (interleaved: %s)',
    (interleaved) => {
      const frames = [at(300n, op(7n), event(9, 8)), at(300n), at(2n ** 50n, op(2n ** 40n), event())];
      const blob = interleaved ? encodeFrames(frames, 0n) : encodeFramesV01(frames, 0n, true);
      const boundaries = new Set([0]);
      for (let count = 1; count <= frames.length; count++) {
        const part = frames.slice(0, count);
        boundaries.add((interleaved ? encodeFrames(part, 0n) : encodeFramesV01(part, 0n, true)).length);
      }
      for (let size = 0; size <= blob.length; size++) {
        const decode = () => decodeFrames(blob.subarray(0, size), 0n, undefined, interleaved);
        if (boundaries.has(size)) expect(decode().length).toBeLessThanOrEqual(frames.length);
        else expect(decode).toThrow(coded('FORMAT_TRUNCATED'));
      }
    },
  );

  test('errors name the offset of the item, in the file when the blob has one', () => {
    const blob = encodeFrames([at(0n, op(1n), op(2n))], 0n);
    blob[12] = 9; // tag of the second op
    expect(() => decodeFrames(blob, 0n)).toThrow(coded('FORMAT_VALUE', 12));
    expect(() => decodeFrames(blob, 0n, undefined, true, 1000)).toThrow(coded('FORMAT_VALUE', 1012));
  });
});

describe('decoding with a schema', () => {
  const field = { name: 'f', type: FieldType.U8, enumId: 0, role: 0, pairId: 0 };
  const schema: Schema = {
    clocks: [],
    scopes: [],
    enums: [],
    storages: [
      {
        name: 's',
        storageId: 0,
        numSlots: 4,
        flags: 0,
        scopeId: 0,
        fields: [field, field],
        properties: [field],
      },
    ],
    events: [{ name: 'e', eventTypeId: 0, scopeId: 0, fields: [field, field] }],
    summaryFields: [],
  };
  const item = (rest: Partial<Extract<Item, { kind: 'op' }>>): Item => ({
    ...(op(1n) as Extract<Item, { kind: 'op' }>),
    ...rest,
  });

  test.each([
    ['storage', item({ storageId: 1 }), 'FORMAT_ID'],
    ['slot', item({ slot: 4 }), 'FORMAT_ID'],
    ['field', item({ field: 2 }), 'FORMAT_ID'],
    ['property', item({ action: Action.PROP_SET, slot: 0, field: 1 }), 'FORMAT_ID'],
    ['event type', { kind: 'event', eventTypeId: 1, payload: new Uint8Array(2) } as Item, 'FORMAT_ID'],
    ['payload size', { kind: 'event', eventTypeId: 0, payload: new Uint8Array(3) } as Item, 'FORMAT_LENGTH'],
  ])('a wrong %s is refused', (_, wrong, code) => {
    const blob = encodeFrames([at(0n, wrong)], 0n);
    expect(() => decodeFrames(blob, 0n, schema)).toThrow(coded(code, 3));
    expect(decodeFrames(blob, 0n).length).toBe(1);
  });

  test('what fits passes', () => {
    const right = at(
      0n,
      item({}),
      item({ action: Action.PROP_SET, field: 0 }),
      item({ action: Action.CLEAR, field: 0, value: 0n }),
    );
    expect(decodeFrames(encodeFrames([right], 0n), 0n, schema)).toEqual([right]);
  });
});
