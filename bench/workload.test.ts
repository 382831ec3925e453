/** The workload in C and its twin in TypeScript make the identical items. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Action } from '../sdk/src/format/types.js';
import { RecordBatch } from '../sdk/src/writer/records/record-batch.js';
import { native } from './native.mjs';
import { createWorkload, type Sink } from './workload.mjs';

const STAGE_TRANSITION = 0;
const FLUSH = 3;
const CYCLES = 20_000;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-workload-'));
  const root = fileURLToPath(new URL('..', import.meta.url));
  for (const folder of ['dpi', 'bench']) execFileSync('make', ['-s', '-C', join(root, folder)]);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The records that the C client would ship for them. */
function recorder(batch: RecordBatch): Sink & { items: number } {
  let frame = 0;
  const op = (action: Action, storage: number, slot: number, field: number, value: number): void => {
    batch.op(action, storage, slot, field, value >>> 0, Math.floor(value / 2 ** 32));
    sink.items++;
  };
  const event = (type: number, id: number, value: number): void => {
    const { view, offset } = batch.event(type, 5);
    view.setUint32(offset, id, true);
    view.setUint8(offset + 4, value);
    sink.items++;
  };
  const sink = {
    items: 0,
    begin: (timePs: number) => {
      sink.items = 0;
      batch.begin(BigInt(timePs));
    },
    end: () => batch.end(sink.items, frame++),
    set: (storage: number, slot: number, field: number, value: number) =>
      op(Action.SET, storage, slot, field, value),
    clear: (storage: number, slot: number) => op(Action.CLEAR, storage, slot, 0, 0),
    add: (storage: number, slot: number, field: number, delta: number) =>
      op(Action.ADD, storage, slot, field, delta),
    prop: (storage: number, property: number, value: number) =>
      op(Action.PROP_SET, storage, 0, property, value),
    stage: (id: number, stage: number) => event(STAGE_TRANSITION, id, stage),
    flush: (id: number, reason: number) => event(FLUSH, id, reason),
  };
  return sink;
}

describe.each(['std', 'ooo'] as const)('%s', (name) => {
  it('is the same in C and in TypeScript, record by record', async () => {
    const file = join(directory, `${name}.bin`);
    const { items } = await native(['records', name, String(CYCLES), file]);
    const bytes = readFileSync(file);
    const batch = new RecordBatch();
    const sink = recorder(batch);
    const model = createWorkload(name);
    let made = 0;
    for (let i = 0; i < CYCLES; i++) made += model.step(sink);
    expect(made).toBe(items);
    const words = batch.words.subarray(0, batch.length);
    expect(Buffer.from(words.buffer, words.byteOffset, words.byteLength).equals(bytes)).toBe(true);
  });
});
