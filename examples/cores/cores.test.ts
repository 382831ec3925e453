/** Two public cores, fetched from PyPI, traced and compared with a log of their pins. `node examples/cores/run.mjs` runs all. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { openTraceFile } from '../../sdk/src/reader/node.js';
import { BUILDS_MS, limitOfFile } from '../../test/support/limits.js';
import { comparePipeline } from './lib/compare-pipeline.mjs';

// The cores are built with Verilator.
limitOfFile(BUILDS_MS);

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '../..');
const work = mkdtempSync(join(tmpdir(), 'uscope-cores-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));

interface Row {
  readonly core: string;
  readonly builds: boolean;
  readonly failure?: string;
  readonly unavailable?: string;
  readonly instructions: number;
  readonly registers: number;
  readonly traps: number;
  readonly interrupts: number;
  readonly violations: number;
  readonly differences: number;
  readonly result: number;
  readonly pipeline?: { readonly differences: number; readonly cycleFacts: number };
}

function run(...args: string[]): { status: number | null; stderr: string; rows: readonly Row[] } {
  const command = [join(here, 'run.mjs'), ...args, '--work', work, '--rounds', '1', '--quick', '--json'];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    encoding: 'utf8',
    timeout: BUILDS_MS,
  });
  return { status, stderr, rows: status === 2 ? [] : (JSON.parse(stdout) as Row[]) };
}

describe('public cores', () => {
  it('agree with the log of their pins: PicoRV32, and Ibex with traps and interrupts', (context) => {
    if (!existsSync(join(root, 'sdk/dist/reader/node.js'))) throw new Error('run "npm run setup" first');
    const { rows, stderr } = run('picorv32', 'ibex');
    const unavailable = rows.find((row) => row.unavailable)?.unavailable;
    if (unavailable) context.skip(unavailable);
    expect(
      rows.map(({ failure }) => failure),
      stderr,
    ).toEqual([undefined, undefined]);
    expect(rows.map(({ core, differences, violations }) => ({ core, differences, violations }))).toEqual([
      { core: 'PicoRV32', differences: 0, violations: 0 },
      { core: 'Ibex', differences: 0, violations: 0 },
    ]);
    const [pico, ibex] = rows as [Row, Row];
    expect(pico.instructions).toBeGreaterThan(10_000);
    expect(ibex.traps).toBe(3);
    expect(ibex.interrupts).toBeGreaterThan(10);
    // Both cores ran the same program.
    expect(ibex.result).toBe(pico.result);
  });

  it('agree with their own registers in each cycle: stages, buffers, branches, stalls; a changed log does not', async (context) => {
    const folder = join(work, 'ibex');
    if (!existsSync(join(folder, 'cycles.log'))) context.skip('the sources are out of reach');
    const row = JSON.parse(readFileSync(join(folder, 'row.json'), 'utf8')) as Row;
    expect(row.pipeline?.differences).toBe(0);
    expect(row.pipeline?.cycleFacts).toBeGreaterThan(100_000);
    const log = readFileSync(join(folder, 'cycles.log'), 'utf8').split('\n');
    log[5000] = log[5000]!.replace(/^(\d+) \S+/, '$1 deadbeef');
    log[6000] = log[6000]!.replace(/\S+$/, '1f');
    const trace = await openTraceFile(join(folder, 'traces_pipeline/core0.uscope'));
    const { differences } = await comparePipeline(trace, log.join('\n'));
    await trace.close();
    expect(differences).toBe(2);
  });

  it('refuses a core that it does not have, with status 2', () => {
    const { status, stderr } = run('cray');
    expect(status).toBe(2);
    expect(stderr).toContain('cray is not a core: picorv32, serv, ibex');
  });
});
