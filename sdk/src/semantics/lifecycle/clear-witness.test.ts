/** Found out by compiled code and op by op, against a set of what was cleared; on sound and on unusual frames. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeDrawn, randomFrames, randomOp, schemaOf } from '../../../../test/support/random-frames.js';
import { Action, CursorItem, FrameCursor } from '../../format/index.js';
import type { LoadedSegment } from '../../reader/index.js';
import { giveBack, takeKernel } from '../../reader/kernel/segment-kernel.js';
import { ClearWitness } from './clear-witness.js';

const schema = schemaOf(
  'other: {kind: sparse, slots: 60000, fields: {a: u64, b: u32, c: u8}}',
  'catalog: {kind: sparse, slots: 6, fields: {id: u32, pc: u64}, properties: {head: u16}}',
);
const [OTHER, CATALOG] = schema.storages;
const SLOTS = [0, 1, 2, 3, 4, 5];

const op = randomOp(
  fc.oneof({ weight: 30, arbitrary: fc.nat(1) }, { weight: 1, arbitrary: fc.constant(2) }),
  fc.oneof({ weight: 20, arbitrary: fc.nat(5) }, { weight: 1, arbitrary: fc.nat(10) }),
  fc.nat(1),
);
const frames = randomFrames(op, { maxStep: 2 ** 33, maxItems: 6 });

const segmentOf = (deltas: Uint8Array): LoadedSegment =>
  ({
    deltas,
    offset: 64,
    deltasOffset: 100,
    compressed: true,
    cursor: () => new FrameCursor(deltas, 0n, true),
  }) as Partial<LoadedSegment> as LoadedSegment;

/** What comes back, and whether an op beyond the catalog was seen. */
type Found = readonly [slots: number[], sawOutside: boolean];

function itemByItem(segment: LoadedSegment, wanted: readonly number[], until: bigint | null): Found {
  const cleared = new Set<number>();
  let sawOutside = false;
  const cursor = segment.cursor();
  while (cursor.next()) {
    if (until !== null && cursor.timePs >= until) break;
    if (cursor.kind !== CursorItem.OP || cursor.storageId !== CATALOG!.storageId) continue;
    if (cursor.action === Action.PROP_SET) continue;
    if (cursor.slot >= SLOTS.length) sawOutside = true;
    if (cursor.action === Action.CLEAR) cleared.add(cursor.slot);
  }
  return [wanted.filter((slot) => !cleared.has(slot)), sawOutside];
}

function witnessed(
  witness: ClearWitness,
  segment: LoadedSegment,
  wanted: readonly number[],
  until: bigint | null,
  isCompiled: boolean,
): Found {
  const kernel = isCompiled ? takeKernel(witness.space) : null;
  expect(kernel !== null).toBe(isCompiled);
  witness.sawOutside = false;
  const slots = witness.untouched(segment, wanted, until, kernel);
  giveBack(kernel);
  return [slots, witness.sawOutside];
}

it('those that no frame before a time clears, from one segment to the next', () => {
  const small = { ...schema, storages: [{ ...OTHER!, numSlots: 300 }, CATALOG!] };
  const witness = new ClearWitness(small, CATALOG!);
  const until = fc.option(fc.oneof(fc.nat(4000), fc.nat(2 ** 33)));
  fc.assert(
    fc.property(frames, fc.subarray(SLOTS), until, (drawn, wanted, time) => {
      const segment = segmentOf(encodeDrawn(drawn));
      const end = time === null ? null : BigInt(time);
      const expected = itemByItem(segment, wanted, end);
      expect(witnessed(witness, segment, wanted, end, true)).toEqual(expected);
      expect(witnessed(witness, segment, wanted, end, false)).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

it('a state too large for compiled code is looked at op by op', () => {
  const wide = { ...OTHER!, fields: new Array(10).fill(OTHER!.fields[0]) };
  const witness = new ClearWitness({ ...schema, storages: [wide, CATALOG!] }, CATALOG!);
  expect([new ClearWitness(schema, CATALOG!).space > 0, witness.space]).toEqual([true, 0]);
  const clear = { kind: 'op', action: Action.CLEAR, storageId: 1, slot: 2, field: 0, value: 0n } as const;
  const segment = segmentOf(encodeDrawn([{ step: 5, items: [clear] }]));
  expect(witnessed(witness, segment, SLOTS, null, true)).toEqual([[0, 1, 3, 4, 5], false]);
});
