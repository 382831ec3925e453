/** The writer's loops as machine code: the same results as WebAssembly, byte for byte. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SCHEMA } from '../../../test/support/bridge-peer.js';
import { RecordKind } from '../format/record.js';
import { parseSchema } from '../schema/index.js';
import { StorageState } from '../state/storage-state.js';
import { CutPolicy } from '../writer/frames/cut-policy.js';
import { createFrameKernel } from '../writer/frames/frame-kernel.js';
import { SegmentBuffer } from '../writer/frames/segment-buffer.js';
import { WriterMemory } from '../writer/frames/writer-memory.js';
import { RecordBatch } from '../writer/records/record-batch.js';
import { bindWasmLz4, LZ4_TABLE_BYTES, lz4Room } from './lz4.js';
import { bindNativeLz4 } from './native.js';
import { nativeAddonPath } from './native-addon.js';

it('the addon is built, from the sources next to it (else: make -C sdk/kernel/native)', () => {
  expect(nativeAddonPath()).toMatch(/kernel\.node$/);
});

describe('LZ4', () => {
  const MOST = 60_000;
  const memory = WriterMemory.create()!;
  const table = memory.place(LZ4_TABLE_BYTES);
  const source = memory.take(MOST + 64);
  const target = memory.take(lz4Room(MOST));
  const blocks = fc
    .tuple(
      fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 6 }),
      fc.infiniteStream(fc.nat(5)),
    )
    .map(([pieces, order]) =>
      Buffer.concat([...order.take(1 + ((pieces[0][0] * 7) % 900))].map((i) => pieces[i % pieces.length])),
    );

  it('makes the blocks that WebAssembly makes', () => {
    const natively = bindNativeLz4(memory.memory.buffer)!;
    const compiled = bindWasmLz4(memory.memory);
    const compress = (lz4: typeof compiled, size: number) =>
      Buffer.from(target.slice(0, lz4(table, source.byteOffset, size, target.byteOffset)));
    fc.assert(
      fc.property(blocks, (block) => {
        source.set(block);
        expect(Buffer.compare(compress(natively, block.length), compress(compiled, block.length))).toBe(0);
      }),
    );
  });
});

describe('what a string handler throws', () => {
  it.each([true, false])('ends the run and reaches the caller (machine code: %s)', (native) => {
    const state = new StorageState(parseSchema(SCHEMA).schema);
    const memory = WriterMemory.create()!;
    const kernel = createFrameKernel(memory, state, null, new Uint32Array([4]), native)!;
    expect(kernel.isNative).toBe(native);
    const batch = new RecordBatch();
    for (let frame = 0; frame < 3; frame++) {
      batch.begin(BigInt(frame));
      batch.string(frame, new TextEncoder().encode('text'));
      batch.end(0, frame);
    }
    const seen: number[] = [];
    kernel.onString = (words, at) => {
      expect(words[at] & 0xff).toBe(RecordKind.STRING);
      seen.push(at);
      throw new RangeError('no more texts');
    };
    kernel.margin = 0;
    const policy = new CutPolicy({
      intervalPs: 1_000_000n,
      softBytes: 1e6,
      hardBytes: 1e6,
      creditBytes: 1e6,
    });
    const take = () => kernel.take(batch.words, 0, batch.length, new SegmentBuffer(memory), policy);
    expect(take).toThrow('no more texts');
    expect(seen).toHaveLength(1);
  });
});
