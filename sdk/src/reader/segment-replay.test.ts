/** A segment replayed by compiled code and by the plain loop, against one that applies item by item; on sound and on damaged frames. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cases } from '../../../test/support/effort.js';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { encodeDrawn, randomFrames, randomOp, schemaOf } from '../../../test/support/random-frames.js';
import { CursorItem, encodeFrames, FrameCursor } from '../format/index.js';
import { stateLayout } from '../state/layout.js';
import { StorageState } from '../state/storage-state.js';
import { giveBack, takeKernel } from './kernel/segment-kernel.js';
import { SchemaChecks } from './scan.js';
import { type LoadedSegment, placeInSegment } from './segment-loader.js';
import { SegmentReplay } from './segment-replay.js';
import { Warnings } from './warnings.js';

// Properties of hundreds of segments.
limitOfFile(MANY_CASES_MS);

const schema = schemaOf(
  'wide: {kind: sparse, slots: 300, fields: {a: u64, b: u32, c: u8}}',
  'buffer: {kind: buffer, slots: 4, fields: {v: u16}, properties: {head: {type: u16, role: head}}}',
  'dense: {kind: dense, slots: 1, fields: {n: u64}}',
);
const layout = stateLayout(schema);
const MAX_U64 = (1n << 64n) - 1n;

const op = randomOp(
  fc.oneof({ weight: 30, arbitrary: fc.nat(2) }, { weight: 1, arbitrary: fc.constant(3) }),
  fc.oneof({ weight: 8, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.nat(310) }),
  fc.oneof({ weight: 20, arbitrary: fc.constant(0) }, { weight: 3, arbitrary: fc.nat(3) }),
);
const frames = randomFrames(op, { maxStep: 2 ** 33, maxItems: 10 });
const start = fc.constantFrom(0n, 0xffff_f000n, (1n << 40n) - 5n, MAX_U64 - 3000n);

/** What the state is afterwards, or the error; and the warnings. */
type Replayed = readonly [unknown, unknown[]];

function outcome(state: StorageState, warnings: Warnings, replay: () => void): Replayed {
  try {
    replay();
    const { cells, mask, occupied } = state;
    return [{ cells: [...cells], mask: [...mask], occupied: [...occupied] }, [...warnings.list]];
  } catch (error) {
    return [String(error), [...warnings.list]];
  }
}

function itemByItem(segment: LoadedSegment, until: bigint | null): Replayed {
  const [state, warnings] = [new StorageState(layout), new Warnings()];
  const checks = new SchemaChecks(schema, false, warnings);
  return outcome(state, warnings, () => {
    const cursor = segment.cursor();
    try {
      while (cursor.next()) {
        if (cursor.kind === CursorItem.FRAME && until !== null && cursor.timePs > until) return;
        if (cursor.kind !== CursorItem.OP || !checks.op(cursor)) continue;
        const { action, storageId, slot, field, lo, hi } = cursor;
        state.apply(action, storageId, slot, field, lo, hi);
      }
    } catch (error) {
      throw placeInSegment(error, segment);
    }
  });
}

function replayed(segment: LoadedSegment, until: bigint | null, isCompiled: boolean): Replayed {
  const [state, warnings] = [new StorageState(layout), new Warnings()];
  const replay = new SegmentReplay(layout, schema, new SchemaChecks(schema, false, warnings));
  const kernel = isCompiled && replay.space !== null ? takeKernel(replay.space) : null;
  expect(kernel !== null).toBe(isCompiled);
  const result = outcome(state, warnings, () => replay.run(state, segment, until, kernel));
  expect(state.cells.buffer).not.toBe(kernel?.buffer);
  giveBack(kernel);
  return result;
}

const segmentOf = (deltas: Uint8Array, from: bigint): LoadedSegment =>
  ({
    deltas,
    offset: 64,
    deltasOffset: 100,
    cursor: () => new FrameCursor(deltas, from, true),
  }) as LoadedSegment;

it('leaves the state that item after item leaves, until any time', () => {
  const until = fc.option(
    fc.oneof(fc.bigInt({ min: 0n, max: 12_000n }), fc.bigInt({ min: 0n, max: 1n << 35n })),
  );
  fc.assert(
    fc.property(frames, start, until, (drawn, from, time) => {
      const segment = segmentOf(encodeDrawn(drawn, from), from);
      const end = time === null ? null : from + time;
      const expected = itemByItem(segment, end);
      expect(replayed(segment, end, true)).toEqual(expected);
      expect(replayed(segment, end, false)).toEqual(expected);
    }),
    { numRuns: cases(400) },
  );
});

it('fails where and as item after item fails, wherever bytes are damaged or cut', () => {
  const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 });
  fc.assert(
    fc.property(frames, start, damage, fc.nat(), (drawn, from, changes, cut) => {
      const whole = encodeDrawn(drawn, from);
      const deltas = whole.slice(0, cut % 3 === 0 ? cut % (whole.length + 1) : whole.length);
      if (deltas.length > 0) for (const [at, byte] of changes) deltas[at % deltas.length] = byte;
      const segment = segmentOf(deltas, from);
      const expected = itemByItem(segment, null);
      expect(replayed(segment, null, true)).toEqual(expected);
      expect(replayed(segment, null, false)).toEqual(expected);
    }),
    { numRuns: cases(400) },
  );
});

it('a state too large for a kernel is replayed all the same', () => {
  const fields = Array.from('abcdefghij', (name) => `${name}: u64`).join(', ');
  const large = schemaOf(`big: {kind: dense, slots: 60000, fields: {${fields}}}`);
  const replay = new SegmentReplay(stateLayout(large), large, new SchemaChecks(large, true, new Warnings()));
  expect(replay.space).toBeNull();
  const state = new StorageState(large);
  const set = { kind: 'op', action: 1, storageId: 0, slot: 59_999, field: 9, value: 7n } as const;
  replay.run(state, segmentOf(encodeFrames([{ timePs: 5n, items: [set] }], 0n), 0n), null, null);
  expect(state.value(0, 59_999, 9)).toBe(7n);
});
