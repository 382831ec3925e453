import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { memorySource } from '../sdk/src/reader/index.js';
import { openTraceFile } from '../sdk/src/reader/node.js';
import { contentOf } from '../test/support/ftr-fixtures.js';
import { BUILDS_MS, limitOfFile } from '../test/support/limits.js';
import { lacks } from '../test/support/needs.js';

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

const hasSystemC =
  spawnSync('g++', ['-x', 'c++', '-std=c++17', '-fsyntax-only', '-'], {
    input: '#include <sysc/kernel/sc_ver.h>\n',
  }).status === 0;

describe.skipIf(lacks('SystemC (libsystemc-dev)', hasSystemC))('examples/systemc', () => {
  it('records a platform in four layers, and makes FTR of it', async () => {
    const output = runOne('make', ['--no-print-directory', '-C', 'examples/systemc', 'run']);
    expect(output).toContain('8 rounds of 16 words, 0 wrong');
    const file = readFileSync(join(root, 'examples/systemc/out/platform.ftr'));
    const { transactions, relations, declarations } = await contentOf(memorySource(file));
    const nameOf = new Map(declarations.map(({ id, name }) => [id, name]));
    const streamOf = new Map(transactions.map(({ id, stream }) => [id, nameOf.get(stream)!]));
    const parents = relations.filter(({ name }) => name === 'parent_of');
    const edges = new Set(
      parents.map(({ source, sink }) => `${streamOf.get(source)} > ${streamOf.get(sink)}`),
    );
    expect([...edges].sort()).toEqual([
      'cpu_access.b > to_ram0.b',
      'cpu_access.b > to_ram1.b',
      'cpu_access.b > to_regs.b',
      'dma_access.b > to_ram0.b',
      'dma_access.b > to_ram1.b',
      'platform.cpu.tasks > cpu_access.b',
      'platform.dma.jobs > dma_access.b',
    ]);
  });
});
