/** What `uscope find` prints. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { clear, frame, set, TraceBuilder } from '../../../test/support/build-trace.js';
import { event, modelSchema } from '../../../test/support/pipeline-model.js';
import { runUscope } from '../../../test/support/run-cli.js';

let directory: string;
let file: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-find-'));
  file = join(directory, 'trace.uscope');
  const born = (slot: number, pc: number, bits: number) => [
    set(0, slot, 0, slot),
    set(0, slot, 1, pc),
    set(0, slot, 2, bits),
  ];
  const builder = new TraceBuilder({ schema: modelSchema(), dut: [['cpu.isa', 'RV64I']] });
  builder.segment({
    frames: [frame(0, ...born(1, 0x1000, 0x00150513)), frame(500, ...born(2, 0x1004, 0x00008067))],
  });
  builder.segment({ frames: [frame(1000, clear(0, 1), event(3, 2, 0, 0, 0, 1)), frame(1500, clear(0, 2))] });
  await writeFile(file, builder.finalize().bytes);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const uscope = async (...args: string[]) => {
  const { status, out, err } = await runUscope(['find', file, ...args]);
  return { status, stdout: out, stderr: err };
};

it('prints cycle, number, address and text', async () => {
  expect(await uscope('add|ret')).toEqual({
    status: 0,
    stdout: '         0         #0  00001000  addi a0,a0,1\n         1         #1  00001004  ret  squashed\n',
    stderr: '',
  });
  expect((await uscope('RET', '-i', '--cycles', '1:')).stdout).toMatch(/^ +1 +#1 .* ret/);
});

it('prints events, counts and JSON', async () => {
  expect((await uscope('flush:exception')).stdout).toBe(
    '         2  core0/flush entity_id=2 reason=exception\n',
  );
  expect((await uscope('pc:0x1000-0x1fff', '--count')).stdout).toBe('2\n');
  expect((await uscope('pc:0x1000-0x1fff', '--limit', '1', '--count', '--jsonl')).stdout).toBe(
    '{"count":1}\n',
  );
  expect(JSON.parse((await uscope('flush:', '--json')).stdout)).toEqual({
    count: 1,
    found: [
      {
        kind: 'event',
        cycle: '2',
        timePs: '1000',
        event: 'core0/flush',
        fields: { entity_id: '2', reason: 'exception' },
      },
    ],
  });
});

it('refuses a bad pattern before it opens the file', async () => {
  const { status, err } = await runUscope(['find', 'missing', '(']);
  expect([status, err]).toEqual([1, expect.stringMatching(/^uscope: READER_PATTERN: .*Unterminated group/)]);
});
