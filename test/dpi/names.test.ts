/** The errors for a C model that opens a trace name in use, or looks up names that its schema does not have. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILDS_MS, limitOfFile } from '../support/limits.js';
import { lacks } from '../support/needs.js';
import { BIN, buildSdk } from '../support/processes.js';

// Each design is built with Verilator.
limitOfFile(BUILDS_MS);

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SCHEMA = join(ROOT, 'test/vectors/codegen/core.yaml');
const LIBRARY = join(ROOT, 'dpi/build/libuscope');
let directory = '';
/** What SystemVerilog calls is only built where there is an svdpi.h. */
let hasShim = false;

function compile(name: string, library: string, ...flags: string[]): void {
  const sources = [join(ROOT, 'test/dpi/names.c'), library];
  const options = [...flags, '-I', join(ROOT, 'dpi/include'), '-o', join(directory, name)];
  execFileSync('cc', [...options, ...sources, '-lzmq', '-lpthread', '-ldl']);
}

beforeAll(() => {
  buildSdk();
  execFileSync('make', ['-s', '-C', join(ROOT, 'dpi')], { stdio: ['ignore', 'ignore', 'pipe'] });
  directory = mkdtempSync(join(tmpdir(), 'uscope-names-'));
  compile('model', `${LIBRARY}.a`);
  hasShim = existsSync(`${LIBRARY}_dpi.a`);
  if (hasShim) compile('simulator', `${LIBRARY}_dpi.a`, '-DSHIM');
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function run(program: string, policy = 'stop') {
  const args = [BIN, 'run', '--out', 'out', '--', join(directory, program)];
  const env = { ...process.env, USCOPE_SCHEMA: SCHEMA, USCOPE_ON_FAILURE: policy };
  return spawnSync(process.execPath, args, { encoding: 'utf8', env, cwd: directory });
}

describe('two cores with one name', () => {
  const refusals = (stderr: string): string[] =>
    stderr.split('\n').filter((line) => line.includes('cannot open trace "core0": BRIDGE_NAME_BUSY'));

  it('are both named in one error, and the first continues', () => {
    const { status, stdout, stderr } = run('model');
    expect(stdout).toBe('second: refused\n');
    expect(refusals(stderr)).toEqual([
      expect.stringMatching(
        /core 1 asks for the trace "core0", which core 0 of process \d+ \(uscope-c [\d.]+\) is writing; give each core a different name/,
      ),
    ]);
    expect(stderr).toContain('core0: out/core0.uscope: closed');
    expect(status).toBe(3);
  });

  it('end a simulation from SystemVerilog, unless it is to continue', ({ skip }) => {
    if (lacks('Verilator', hasShim)) skip();
    const stopped = run('simulator');
    expect(stopped).toMatchObject({ status: 3, stdout: '' });
    expect(refusals(stopped.stderr)).toHaveLength(1);
    expect(stopped.stderr).toContain('stopping the simulation with status 3');
    const other = run('simulator', 'continue');
    expect(other.stdout).toBe('second: refused\n');
    expect(other.stderr).toContain('continuing untraced');
  });
});

describe('a schema that lacks a storage', () => {
  it('is named, with the names that are near', () => {
    const { stderr } = run('model');
    const told = stderr.split('\n').filter((line) => line.includes('OP_STORAGE'));
    expect(told).toEqual([
      expect.stringContaining(
        'no storage is named "core0/entites"; did you mean "core0/entities"? (schema: ',
      ),
      expect.stringContaining('no storage is named "rob"; did you mean "core0/rob"? (schema: '),
      expect.stringMatching(
        /no storage is named "scoreboard"; there are ".*", and others \(schema: \S*core\.yaml; correct/,
      ),
    ]);
  });
});
