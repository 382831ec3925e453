import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { framesFrom, SCHEMA, upTo, valuesOf } from '../../../../test/support/bridge-peer.js';
import { coreSchema } from '../../../../test/support/build-trace.js';
import { decodeFile } from '../../../../test/support/decode-file.js';
import { SessionStatus } from '../../format/session-chunk.js';
import { parseSchema } from '../../schema/index.js';
import { StorageState } from '../../state/storage-state.js';
import { RecordWriter } from '../record-writer.js';
import { createFrameKernel } from './frame-kernel.js';
import { WriterMemory } from './writer-memory.js';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-kernel-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const FRAMES = 5000;
const FRAME_WORDS = 12;

describe.each(['native', 'wasm'] as const)(
  'the compiled loop (%s) takes records where they lie',
  (kernel) => {
    const places: [string, number | null][] = [
      ['in the first window', 0],
      ['in the second', 1],
      ['in the third', 2],
      ['in no window', null],
    ];
    // Machine code needs no windows.
    it.each(places.filter(([, place]) => kernel === 'wasm' || place === null))(
      '%s, whatever the windows held before',
      async (name, place) => {
        const path = join(directory, `${name}.uscope`);
        const { schema } = parseSchema(SCHEMA);
        const writer = await RecordWriter.create({ path, schema, checkpointIntervalPs: 10n ** 9n, kernel });
        const run = writer.kernel!;
        expect(run.isNative).toBe(kernel === 'native');
        const take = run.take.bind(run);
        let taken = 0;
        run.take = (...given) => {
          const next = take(...given);
          taken += run.items;
          return next;
        };
        const window = place === null ? new Uint8Array(1 << 20) : writer.windows[place];
        for (const each of writer.windows) each.fill(0xee);
        window.set(framesFrom(0, FRAMES));
        const words = new Uint32Array(window.buffer, window.byteOffset, FRAMES * FRAME_WORDS);
        // As a flight recorder does, in parts.
        writer.push(words, 0, 2000 * FRAME_WORDS);
        writer.push(words, 2000 * FRAME_WORDS);
        await writer.close({ status: SessionStatus.CLOSED });
        expect(valuesOf(decodeFile(path))).toEqual(upTo(FRAMES));
        expect(taken).toBeGreaterThan(FRAMES * 0.9);
      },
    );
  },
);

describe('checkpoints', () => {
  const u32 = fc.nat(0xffff_ffff);
  const ops = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.nat(3), fc.nat(12), fc.nat(3), u32, u32), {
    maxLength: 60,
  });

  it.each([true, false])('are packed as TypeScript does it (machine code: %s)', (native) => {
    const memory = WriterMemory.create()!;
    const state = new StorageState(coreSchema);
    const sizes = Uint32Array.from(coreSchema.events, () => 0);
    expect(createFrameKernel(memory, state, null, sizes, native)!.isNative).toBe(native);
    fc.assert(
      fc.property(ops, (changes) => {
        for (const [action, id, slot, field, lo, hi] of changes) {
          if (state.inRange(action, id, slot, field)) state.apply(action, id, slot, field, lo, hi);
        }
        let block: Uint8Array | undefined;
        const packed = state.encodeCheckpoint((size) => {
          block = memory.take(size).fill(0xee);
          return block;
        });
        expect(packed.byteOffset).toBe(block!.byteOffset);
        expect(Buffer.compare(packed, state.encodeCheckpoint())).toBe(0);
        memory.giveBack(block!);
      }),
    );
  });
});
