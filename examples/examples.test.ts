import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openTraceFile } from '../sdk/src/reader/node.js';
import { BUILDS_MS, limitOfFile } from '../test/support/limits.js';

// The examples are compiled.
limitOfFile(BUILDS_MS);

const root = fileURLToPath(new URL('..', import.meta.url));

/** The examples use what a user uses: the built package and the built library. */
for (const built of ['sdk/dist/writer/index.js', 'dpi/build/libuscope.a']) {
  if (!existsSync(join(root, built))) throw new Error(`${built} is not built: run npm run setup first`);
}

function runOne(command: string, args: string[]) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    timeout: 240_000,
  });
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

describe('examples/ts-model', () => {
  it('writes a trace whose counters are those of the model', async () => {
    runOne(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'examples/ts-model']);
    const output = runOne(process.execPath, ['examples/ts-model/out/model.js']);
    const [, stores, stalled] = /stores (\d+), stalled cycles (\d+)/.exec(output) ?? [];

    const trace = await openTraceFile(join(root, 'examples/ts-model/out/store_buffer.uscope'));
    const end = await trace.stateAt(trace.totalTimePs);
    expect(trace.isComplete).toBe(true);
    expect(Number(end.slotField('core0/stores', 0, 'count'))).toBe(Number(stores));
    let stalls = 0;
    for await (const _ of trace.events(0n, undefined, ['core0/stall'])) stalls++;
    expect(stalls).toBe(Number(stalled));
    await trace.close();
  });
});

describe('examples/c-model', () => {
  it('writes a trace whose events agree with what the model printed', async () => {
    const output = runOne('make', ['--no-print-directory', '-C', 'examples/c-model', 'run']);
    const [, branches, mispredicted] = /branches (\d+), mispredicted (\d+)/.exec(output) ?? [];

    const trace = await openTraceFile(join(root, 'examples/c-model/out/predictor.uscope'));
    let total = 0;
    let wrong = 0;
    for await (const event of trace.events(0n, undefined, ['predictor/branch'])) {
      const { predicted, actual } = event.fields();
      total++;
      if (predicted !== actual) wrong++;
    }
    expect({ total, wrong }).toEqual({ total: Number(branches), wrong: Number(mispredicted) });
    expect(trace.isComplete).toBe(true);
    await trace.close();
  });
});
