/** Messages are read back by the rules of protobuf's encoding: keys, varints, lengths. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Message } from './message.js';

type Field = readonly [number: number, value: bigint | number | string | readonly Field[]];

/** @param kinds what a field with a length, or of eight bytes, holds */
function fieldsOf(
  bytes: Uint8Array,
  kinds: readonly ('number' | 'double' | 'fixed' | 'string' | 'message' | 'opened')[],
) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const found: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
  };
  for (const kind of kinds) {
    const key = varint();
    const field = Number(key >> 3n);
    expect(Number(key & 7n)).toBe({ number: 0, double: 1, fixed: 1, string: 2, message: 2, opened: 2 }[kind]);
    if (kind === 'number') found.push([field, BigInt.asIntN(64, varint())]);
    else if (kind === 'double' || kind === 'fixed') {
      found.push([field, kind === 'double' ? view.getFloat64(at, true) : view.getBigUint64(at, true)]);
      at += 8;
    } else {
      const length = Number(varint());
      const part = bytes.subarray(at, at + length);
      expect(part.length).toBe(length);
      found.push([field, kind === 'string' ? new TextDecoder().decode(part) : fieldsOf(part, ['string'])]);
      at += length;
    }
  }
  expect(at).toBe(bytes.length);
  return found;
}

const field = fc.integer({ min: 1, max: 2 ** 29 - 1 });
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.nat(400).map((length) => 'x'.repeat(length)),
);

it('has every field', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.record({ kind: fc.constant('number' as const), field, value: fc.maxSafeInteger() }),
          fc.record({ kind: fc.constant('double' as const), field, value: fc.double({ noNaN: true }) }),
          fc.record({ kind: fc.constant('fixed' as const), field, value: fc.maxSafeNat() }),
          fc.record({ kind: fc.constant('string' as const), field, value: text }),
          fc.record({ kind: fc.constant('message' as const), field, value: text }),
          fc.record({ kind: fc.constant('opened' as const), field, value: text }),
        ),
      ),
      (parts) => {
        const message = new Message(16);
        for (const part of parts) {
          if (part.kind === 'number') message.number(part.field, part.value);
          else if (part.kind === 'double') message.double(part.field, part.value);
          else if (part.kind === 'fixed') message.fixed64(part.field, part.value);
          else if (part.kind === 'string') message.string(part.field, part.value);
          else if (part.kind === 'message') message.message(part.field, new Message(1).string(7, part.value));
          else {
            const start = message.open(part.field);
            message.string(7, part.value).close(start);
          }
        }
        const read = fieldsOf(
          message.bytes.slice(0, message.length),
          parts.map(({ kind }) => kind),
        );
        expect(read).toEqual(
          parts.map((part) => {
            if (part.kind === 'message' || part.kind === 'opened') return [part.field, [[7, part.value]]];
            const isWhole = part.kind === 'number' || part.kind === 'fixed';
            return [part.field, isWhole ? BigInt(part.value) : part.value];
          }),
        );
      },
    ),
  );
});
