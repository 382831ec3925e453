/** A Verilator testbench that records transactions: what it said is what the FTR file made of its trace holds. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FtrType } from '../../sdk/src/formats/ftr/index.js';
import { memorySource } from '../../sdk/src/reader/index.js';
import { contentOf } from '../support/ftr-fixtures.js';
import { BUILDS_MS, limitOfFile } from '../support/limits.js';
import { lacks } from '../support/needs.js';
import { BIN, buildSdk } from '../support/processes.js';

// Each design is built with Verilator.
limitOfFile(BUILDS_MS);

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SV = join(ROOT, 'sv');
const SOURCES = [
  join(SV, 'uscope_pkg.sv'),
  join(SV, 'uscope_tr_pkg.sv'),
  join(ROOT, 'test/dpi/transactions.sv'),
];
const PYTHON = join(ROOT, 'cocotb-adapter/.venv/bin/python');
const CYCLES = 40;
const hasVerilator = spawnSync('verilator', ['--version']).status === 0;
const hasPyslang = spawnSync(PYTHON, ['-c', 'import pyslang']).status === 0;
let directory = '';

const CHECK = `import sys
from pyslang.ast import Compilation
from pyslang.syntax import SyntaxTree
compilation = Compilation()
for path in sys.argv[1:]:
    compilation.addSyntaxTree(SyntaxTree.fromFile(path))
for diagnostic in compilation.getAllDiagnostics():
    print(diagnostic.code, diagnostic.args, diagnostic.location.offset)
`;

/** What transactions.sv records, written a second time. */
function expected() {
  const requests = Array.from({ length: (CYCLES - 4) / 2 }, (_, n) => BigInt(n));
  const at = (n: bigint): bigint => 4000n + 2000n * n;
  const last = requests.at(-1)!;
  const transactions = requests.flatMap((n) => {
    const begin = (name: string, type: FtrType, value: unknown) => ({ phase: 0, name, type, value });
    const record = (name: string, type: FtrType, value: unknown) => ({ phase: 1, name, type, value });
    const end = (name: string, type: FtrType, value: unknown) => ({ phase: 2, name, type, value });
    const attributes = [
      begin('addr', FtrType.UNSIGNED, 0xffff_ffff_0000_0000n + at(n)),
      begin('burst', FtrType.BOOLEAN, n % 2n === 1n),
      record('offset', FtrType.INTEGER, -n),
      record('load', FtrType.FLOATING_POINT_NUMBER, Number(n) * 0.25),
      record('state', FtrType.ENUMERATION, n & 2n ? 'SHARED' : 'OWNED'),
      record('strobe', FtrType.BIT_VECTOR, (n & 15n).toString(2).padStart(4, '0')),
      record('data', FtrType.LOGIC_VECTOR, '01XZ'),
      record('buffer', FtrType.POINTER, 0x7fff_0000n + n),
    ];
    // A request ends a cycle after the next one has begun; the last does not.
    const done = n < last;
    if (done) {
      attributes.push(end('result', FtrType.STRING, n % 2n ? 'ok' : ''), end('took', FtrType.TIME, 3000n));
    }
    const [id, phase] = [2n * n + 1n, 2n * n + 2n];
    return [
      { id, stream: 1n, generator: 2n, start: at(n), end: done ? at(n) + 3000n : at(n), attributes },
      { id: phase, stream: 3n, generator: 4n, start: at(n), end: at(n) + 1000n, attributes: [] },
    ];
  });
  const relations = requests.flatMap((n) => {
    const source = 2n * n + 1n;
    const phase = { name: 'addr_phase', source, sink: source + 1n, sourceStream: 1n, sinkStream: 3n };
    const next = { name: 'next', source, sink: source + 2n, sourceStream: 1n, sinkStream: 1n };
    return n < last ? [phase, next] : [phase];
  });
  return { transactions, relations };
}

describe.skipIf(lacks('Verilator', hasVerilator))('transactions recorded from SystemVerilog', () => {
  beforeAll(() => {
    buildSdk();
    execFileSync('make', ['-s', '-C', join(ROOT, 'dpi')], { stdio: ['ignore', 'ignore', 'pipe'] });
    directory = mkdtempSync(join(tmpdir(), 'uscope-tr-'));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('are in the FTR file as they were recorded', async () => {
    const options = [
      '--cc',
      '--exe',
      '--build',
      '-j',
      '1',
      '-Wall',
      '-Wno-DECLFILENAME',
      '--top-module',
      'top',
    ];
    const link = `${join(ROOT, 'dpi/build/libuscope_dpi.a')} -lzmq -lpthread`;
    const paths = [`+incdir+${SV}`, '--Mdir', join(directory, 'obj'), '-LDFLAGS', link];
    const sources = [...SOURCES, join(ROOT, 'test/dpi/main.cpp')];
    execFileSync('verilator', [...options, ...paths, ...sources], { stdio: ['ignore', 'ignore', 'pipe'] });
    const command = ['--out', directory, '--schema', join(SV, 'uscope_tr.yaml')];
    // The first rising edge is at the model's start, where it sees none.
    const simulator = [join(directory, 'obj', 'Vtop'), String(CYCLES + 1)];
    const run = spawnSync(process.execPath, [BIN, 'run', ...command, '--', ...simulator], {
      encoding: 'utf8',
    });
    expect(run.status, run.stderr).toBe(0);
    expect(run.stdout).toContain(`requests ${(CYCLES - 4) / 2} rejected 0`);
    const output = join(directory, 'bus.ftr');
    execFileSync(process.execPath, [BIN, 'convert', '--force', join(directory, 'bus.uscope'), '-o', output], {
      stdio: 'pipe',
    });
    const { info, declarations, transactions, relations } = await contentOf(
      memorySource(readFileSync(output)),
    );
    expect(info.exponent).toBe(-12);
    expect(Number(info.epoch)).toBeGreaterThan(1_500_000_000);
    expect(declarations).toEqual([
      { kind: 'stream', id: 1n, name: 'top.bus', streamKind: 'transactor' },
      { kind: 'generator', id: 2n, name: 'read', stream: 1n },
      { kind: 'stream', id: 3n, name: 'top.phases', streamKind: 'transactor' },
      { kind: 'generator', id: 4n, name: 'addr', stream: 3n },
    ]);
    const said = expected();
    expect(transactions).toEqual(said.transactions);
    expect(relations).toEqual(said.relations);
    expect(transactions.length).toBe(36);
  });

  it.skipIf(lacks('pyslang', hasPyslang))('by a package of which pyslang has nothing to say', () => {
    const run = spawnSync(PYTHON, ['-c', CHECK, ...SOURCES], { cwd: SV, encoding: 'utf8' });
    expect(run.stdout + run.stderr).toBe('');
  });
});
