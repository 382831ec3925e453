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
    timeout: BUILDS_MS,
    maxBuffer: 1 << 26,
  });
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

describe('examples/ts-model', () => {
  it('writes a trace whose counters are those of the model', async () => {
    runOne(process.execPath, ['node_modules/typescript-7/bin/tsc', '-p', 'examples/ts-model']);
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

/** What program.hpp computes: odd counts of a table whose places an LCG chooses. */
function sumOfOddCounts(rounds: number): number {
  const table = new Uint32Array(4096);
  let seed = 1;
  let sum = 0;
  for (let round = 0; round < rounds; round++) {
    seed = (Math.imul(seed, 1103) + 1237) >>> 0;
    const at = (seed >>> 14) & 0x7fc;
    const before = table[at]!;
    table[at] = before + 1;
    if (before % 2 === 1) sum += before + 1;
  }
  return sum;
}

describe('examples/cpp-model', () => {
  it('computes what the program says, and its trace has it in stats and timeline', async () => {
    const output = runOne('make', ['--no-print-directory', '-C', 'examples/cpp-model', 'run']);
    const [, cycles, committed, sum] = /cycles (\d+), committed (\d+), sum (\d+)/.exec(output) ?? [];
    expect(Number(sum)).toBe(sumOfOddCounts(500));
    expect(output).toContain('checked against the counters of the core  4 of 4 agree');
    const file = 'examples/cpp-model/out/ooo.uscope';
    const uscope = (...args: string[]) => runOne(process.execPath, ['sdk/bin/uscope.js', ...args]);
    expect(uscope('verify', file)).toContain('no errors');
    const picture = 'examples/cpp-model/out/ooo.png';
    uscope('view', '--force', '--png', picture, '--cycles', '0:64', file);
    expect(readFileSync(join(root, picture)).subarray(1, 4).toString()).toBe('PNG');
    const [core] = JSON.parse(uscope('stats', file, '--json')).cores;
    expect(core.stalls.reasons.map(({ reason }: { reason: string }) => reason)).toContain('rob_full');
    const trace = await openTraceFile(join(root, file));
    const end = await trace.stateAt(trace.totalTimePs);
    expect(Number(end.slotField('core0/cycles', 0, 'count'))).toBe(Number(cycles));
    expect(Number(end.slotField('core0/committed_insns', 0, 'count'))).toBe(Number(committed));
    await trace.close();
    const rows = uscope('timeline', file, '--json', '--cycles', `0:${cycles}`).trim().split('\n');
    const retired = rows.map((row) => JSON.parse(row)).filter(({ end }) => end?.kind === 'retired');
    expect(retired).toHaveLength(Number(committed));
    expect(retired.at(-1).text).toBe('ecall');
    // In the order of the program, which each step follows.
    const steps = retired.slice(1).map((row, i) => ({ from: retired[i], to: row }));
    const backwards = steps.filter(({ from, to }) => Number(from.end.cycle) > Number(to.end.cycle));
    const isStep = (from: { pc: string; text: string }, to: { pc: string }) =>
      Number(to.pc) === Number(from.pc) + 4 ||
      (/^b/.test(from.text) && from.text.endsWith(`0x${Number(to.pc).toString(16)}`));
    expect({ backwards, jumps: steps.filter(({ from, to }) => !isStep(from, to)) }).toEqual({
      backwards: [],
      jumps: [],
    });
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
      'cpu_access.b > to_control0.b',
      'cpu_access.b > to_control1.b',
      'cpu_access.b > to_regs.b',
      'dma_access.b > to_control0.b',
      'dma_access.b > to_control1.b',
      'platform.cpu.tasks > cpu_access.b',
      'platform.dma.jobs > dma_access.b',
      'to_control0.b > to_ram0.b',
      'to_control1.b > to_ram1.b',
    ]);
  });
});
