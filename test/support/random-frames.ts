/** Interleaved frames drawn at random, for the reader's loops: items of any kind, times of one byte and more between frames. */
import fc from 'fast-check';
import { Action, encodeFrames, type Frame, type Item, type Schema } from '../../sdk/src/format/index.js';
import { parseSchema } from '../../sdk/src/schema/index.js';

const MAX_U64 = (1n << 64n) - 1n;

export interface DrawnFrame {
  /** ps since the frame before. */
  readonly step: number;
  readonly items: readonly Item[];
}

/** A schema with the events that are drawn. @param storages a line of YAML each */
export function schemaOf(...storages: string[]): Schema {
  const { schema } = parseSchema(`
uscope: 1
dut: {dut_name: t}
clocks: {clk: 1000}
scopes:
  top:
    clock: clk
    storages:
      ${storages.join('\n      ')}
    events:
      one: {value: u32}
      text: {id: u32, kind: u8}
`);
  return schema;
}

/** Ops of any action and value: half of the values are small. */
export function randomOp(
  storageId: fc.Arbitrary<number>,
  slot: fc.Arbitrary<number>,
  field: fc.Arbitrary<number>,
): fc.Arbitrary<Item> {
  return fc.record({
    kind: fc.constant('op' as const),
    action: fc.constantFrom(Action.SET, Action.CLEAR, Action.ADD, Action.PROP_SET),
    storageId,
    slot,
    field,
    value: fc.oneof(fc.bigInt({ min: 0n, max: 0xffffn }), fc.bigInt({ min: 0n, max: MAX_U64 })),
  });
}

/** Of types 0 and 1, whose payloads have four and five bytes. */
const event: fc.Arbitrary<Item> = fc.nat(1).chain((eventTypeId) =>
  fc.uint8Array({ minLength: 4 + eventTypeId, maxLength: 4 + eventTypeId }).map((payload) => ({
    kind: 'event',
    eventTypeId,
    payload,
  })),
);

/** Up to twelve frames of ops as drawn from `op`, and events; steps of up to `maxStep`, most of them short. */
export function randomFrames(
  op: fc.Arbitrary<Item>,
  { maxStep, maxItems }: { readonly maxStep: number; readonly maxItems: number },
): fc.Arbitrary<DrawnFrame[]> {
  const frame = fc.record({
    step: fc.oneof(fc.nat(2000), fc.nat(2 ** 22), fc.nat(maxStep)),
    items: fc.array(fc.oneof(op, event), { maxLength: maxItems }),
  });
  return fc.array(frame, { maxLength: 12 });
}

/** Frames of small values have compact ops. What would come after the last time that can be is left out. */
export function encodeDrawn(drawn: readonly DrawnFrame[], fromPs = 0n): Uint8Array {
  const frames: Frame[] = [];
  let timePs = fromPs;
  for (const { step, items } of drawn) {
    timePs += BigInt(step);
    if (timePs > MAX_U64) break;
    frames.push({ timePs, items: [...items] });
  }
  return encodeFrames(frames, fromPs);
}
