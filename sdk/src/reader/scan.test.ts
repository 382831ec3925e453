/** The fast walk over a segment's items against the plain one, item by item, on sound and on damaged frames. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeDrawn, randomFrames, randomOp, schemaOf } from '../../../test/support/random-frames.js';
import { encodeFrames, FrameCursor } from '../format/index.js';
import { SchemaChecks, SegmentScan, scanRange } from './scan.js';
import type { LoadedSegment } from './segment-loader.js';
import { Warnings } from './warnings.js';

const schema = schemaOf(
  'wide: {kind: sparse, slots: 300, fields: {a: u64, b: u32}}',
  'buffer: {kind: buffer, slots: 4, fields: {v: u16}, properties: {head: {type: u16, role: head}}}',
);

const op = randomOp(
  fc.integer({ min: 0, max: 1 }),
  // beyond the ends too: the checks must say the same
  fc.oneof(fc.nat(3), fc.nat(310)),
  fc.oneof({ weight: 20, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(2) }),
);
// Times of one to five bytes, and beyond 2^32.
const frames = randomFrames(op, { maxStep: 2 ** 32, maxItems: 8 });

const described = (c: FrameCursor): string =>
  [c.timePs, c.kind, c.itemOffset, ...(c.kind === 1 ? [c.action, c.storageId, c.slot, c.field, c.value] : [])]
    .concat(c.kind === 2 ? [c.eventType, c.payloadOffset, c.payloadSize] : [])
    .join(' ');

/** What a walk over the deltas sees, its error and warnings included. */
function walk(
  deltas: Uint8Array,
  numFrames: number,
  visits: boolean,
  range: [bigint, bigint | null],
): string[] {
  const warnings = new Warnings();
  const scan = new SegmentScan(scanRange(...range), new SchemaChecks(schema, false, warnings));
  const header = { numFrames };
  scan.begin({ header, offset: 64, cursor: () => new FrameCursor(deltas, 0n, true) } as LoadedSegment);
  const seen: string[] = [];
  try {
    const cursor = (scan as unknown as { cursor: FrameCursor }).cursor;
    const take = (at: FrameCursor) => void seen.push(described(at));
    if (visits) scan.visit({ frame: take, op: take, event: take });
    else while (scan.next()) take(cursor);
  } catch (error) {
    seen.push(String(error));
  }
  return [...seen, ...warnings.list.map((warning) => JSON.stringify(warning))];
}

describe('visiting a segment', () => {
  const time = fc.oneof(fc.bigInt({ min: 0n, max: 12_000n }), fc.bigInt({ min: 0n, max: 1n << 34n }));
  const range = fc.tuple(time, fc.option(time));

  it('sees what the plain walk sees', () => {
    fc.assert(
      fc.property(frames, range, (drawn, between) => {
        const deltas = encodeDrawn(drawn);
        expect(walk(deltas, drawn.length, true, between)).toEqual(walk(deltas, drawn.length, false, between));
      }),
      { numRuns: 800 },
    );
  });

  it('fails where and as the plain walk fails, wherever bytes are damaged or cut', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 });
    fc.assert(
      fc.property(frames, damage, fc.nat(), (drawn, changes, cut) => {
        const whole = encodeDrawn(drawn);
        const deltas = whole.slice(0, cut % 3 === 0 ? cut % (whole.length + 1) : whole.length);
        if (deltas.length > 0) for (const [at, byte] of changes) deltas[at % deltas.length] = byte;
        expect(walk(deltas, drawn.length, true, [0n, null])).toEqual(
          walk(deltas, drawn.length, false, [0n, null]),
        );
      }),
      { numRuns: 400 },
    );
  });

  it('ends where a visitor says so, and lets its errors through', () => {
    const items = [0, 1, 2].map((slot) => ({
      kind: 'op' as const,
      action: 1 as const,
      storageId: 0,
      slot,
      field: 0,
      value: 0x1_0000n,
    }));
    const deltas = encodeFrames([{ timePs: 5n, items }], 0n);
    const scan = () => {
      const one = new SegmentScan(scanRange(0n, null), new SchemaChecks(schema, true, new Warnings()));
      const header = { numFrames: 1 };
      one.begin({ header, offset: 0, cursor: () => new FrameCursor(deltas, 0n, true) } as LoadedSegment);
      return one;
    };
    const slots: number[] = [];
    const first = scan().visit({ op: ({ slot }) => slots.push(slot) < 2 });
    expect([first, slots]).toEqual([false, [0, 1]]);
    const theirs = new Error('mine');
    expect(() =>
      scan().visit({
        op() {
          throw theirs;
        },
      }),
    ).toThrow(theirs);
  });
});
