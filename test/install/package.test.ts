/** The npm package as a user has it: packed, unpacked in an empty directory, beside copies of the packages that it names as dependencies. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILDS_MS, limitOfFile } from '../support/limits.js';

// npm packs, the client library is compiled.
limitOfFile(BUILDS_MS);

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MODULES = join(ROOT, 'node_modules');
const HOME = mkdtempSync(join(tmpdir(), 'uscope-install-'));
const PACKAGE = join(HOME, 'node_modules/uscope');
const LIB = join(HOME, 'lib');

/** Without what the test runner adds. */
const OF_A_USER = { PATH: process.env.PATH, HOME: process.env.HOME };

type Result = Pick<SpawnSyncReturns<string>, 'status' | 'stdout' | 'stderr'>;

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Result {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: HOME,
    encoding: 'utf8',
    timeout: BUILDS_MS,
    env: { ...OF_A_USER, USCOPE_LIB_DIR: LIB, ...env },
  });
  return { status, stdout, stderr };
}

function succeed(command: string, args: readonly string[]): string {
  const { status, stdout, stderr } = run(command, args);
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

const uscope = (...args: string[]): string =>
  succeed(process.execPath, [join(PACKAGE, 'bin/uscope.js'), ...args]);
/** As a shell splits it. */
const words = (...args: string[]): string[] =>
  uscope('config', ...args)
    .trim()
    .split(' ');

/** By links where that works: the dependencies are 80 MB. */
function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  if (spawnSync('cp', ['-al', from, to]).status !== 0) cpSync(from, to, { recursive: true });
}

beforeAll(() => {
  mkdirSync(join(HOME, 'node_modules'));
  succeed('npm', ['pack', join(ROOT, 'sdk'), '--pack-destination', HOME, '--silent']);
  const [tarball] = readdirSync(HOME).filter((name) => name.endsWith('.tgz'));
  succeed('tar', ['xzf', tarball!]);
  cpSync(join(HOME, 'package'), PACKAGE, { recursive: true });
  rmSync(join(HOME, 'package'), { recursive: true });
  const listed = spawnSync('npm', ['ls', '--omit=dev', '--all', '--parseable', '-w', 'sdk'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const dependencies = listed.stdout
    .split('\n')
    .filter((path) => path.startsWith(MODULES) && !path.slice(MODULES.length).includes('/node_modules/'))
    .map((path) => path.slice(MODULES.length + 1))
    .filter((name) => name !== 'uscope');
  expect(dependencies).toContain('zeromq');
  for (const name of dependencies) copy(join(MODULES, name), join(HOME, 'node_modules', name));
  uscope('config', '--build', LIB);
});
afterAll(() => rmSync(HOME, { recursive: true, force: true }));

describe('the package', () => {
  it('has everything that other programs use, the licence and no source map', () => {
    for (const part of ['LICENSE', 'README.md', 'dist/viewer/page.js', 'share/dpi/include/uscope.h'])
      expect(existsSync(join(PACKAGE, part)), part).toBe(true);
    const [directory] = words('--sv-dir');
    expect(readdirSync(directory!)).toEqual(readdirSync(join(ROOT, 'sv')));
    const files = readdirSync(join(PACKAGE, 'dist'), { recursive: true, encoding: 'utf8' });
    expect(files.filter((name) => name.endsWith('.map'))).toEqual([]);
  });

  it('leaves nothing in the clone', () => {
    expect(existsSync(join(ROOT, 'sdk/share'))).toBe(false);
  });

  it('builds the client from its sources, and a model in C with the flags that uscope config prints', () => {
    expect(readdirSync(LIB)).toEqual(
      expect.arrayContaining(['libuscope.a', 'libuscope.so', 'libuscope_dpi.so']),
    );
    cpSync(join(ROOT, 'examples/c-model/model.c'), join(HOME, 'model.c'));
    cpSync(join(ROOT, 'examples/c-model/schema.yaml'), join(HOME, 'schema.yaml'));
    succeed('cc', ['model.c', ...words('--cflags', '--libs'), '-o', 'model']);
    uscope('run', '--schema', 'schema.yaml', '--out', 'traces', '--', './model');
    const [trace] = readdirSync(join(HOME, 'traces')).filter((name) => name.endsWith('.uscope'));
    expect(uscope('verify', join('traces', trace!))).toContain('no errors');
    const program = `import { openTraceFile } from 'uscope';
      const trace = await openTraceFile(${JSON.stringify(join('traces', trace!))});
      console.log(trace.isComplete, trace.schema.storages.length > 0);
      await trace.close();`;
    expect(succeed(process.execPath, ['--input-type=module', '-e', program])).toBe('true true\n');
  });

  it('draws a picture, where the canvas is installed beside it', () => {
    const name = '@napi-rs';
    if (!existsSync(join(HOME, 'node_modules', name)))
      copy(join(MODULES, name), join(HOME, 'node_modules', name));
    const trace = join(ROOT, 'test/compatibility/0.1.0/traces/closed-lz4.uscope');
    expect(uscope('view', '--force', '--png', 'picture.png', trace)).toBe('picture.png\n');
    expect(readFileSync(join(HOME, 'picture.png')).subarray(1, 4).toString()).toBe('PNG');
  });

  it('gives Verilator all that a core with RVFI needs', () => {
    for (const name of ['core.sv', 'tb.sv', 'bind.sv'])
      cpSync(join(ROOT, 'examples/rvfi', name), join(HOME, name));
    const flags = ['--lint-only', '--timing', '-Wno-fatal', '--timescale', '1ps/1ps', '--top-module', 'tb'];
    succeed('verilator', [...flags, ...words('--verilator-rvfi'), 'core.sv', 'tb.sv', 'bind.sv']);
  });

  it('has fragments for makefiles that find the command and the library', () => {
    const [mk] = words('--mk');
    const printed = [
      '-f',
      join(mk!, 'verilator.mk'),
      '--eval',
      'show: ; @echo $(USCOPE_CLI) $(USCOPE_LIB)',
      'show',
    ];
    const [node, command, library] = succeed('make', ['-s', ...printed])
      .trim()
      .split(' ');
    expect(node).toBe('node');
    expect(existsSync(command!)).toBe(true);
    expect(library).toBe(join(LIB, 'libuscope_dpi'));
  });
});

describe('uscope config', () => {
  const config = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Result =>
    run(process.execPath, [join(PACKAGE, 'bin/uscope.js'), 'config', ...args], env);

  it('without a library says how it is built', () => {
    // A clone in which a release was made has some.
    rmSync(join(PACKAGE, 'prebuilt'), { recursive: true, force: true });
    expect(config(['--libs'], { USCOPE_LIB_DIR: undefined })).toEqual({
      status: 1,
      stdout: '',
      stderr: `uscope: ENV_MISSING: the client library is not built, and the package has no prebuilt one for ${process.platform}-${process.arch}: uscope config --build DIR builds it; then give --lib-dir DIR or set USCOPE_LIB_DIR\n`,
    });
    expect(config(['--libs', '--lib-dir', 'nowhere']).stderr).toContain('no client library is here');
  });

  it('names everything that a build lacks, before it builds', () => {
    const { status, stderr } = config(['--build', 'other'], { PATH: '/nonexistent' });
    expect(status).toBe(1);
    expect(stderr).toContain(
      'missing: make, a C compiler (cc does not compile a program; CC names another).',
    );
    expect(stderr).toContain('apt-get install make gcc');
    expect(existsSync(join(HOME, 'other'))).toBe(false);
  });

  it('names the compiler of CC that does not work', () => {
    const { status, stderr } = config(['--build', 'other'], { CC: 'no-such-cc' });
    expect([status, stderr]).toEqual([1, expect.stringContaining('(no-such-cc does not compile a program;')]);
  });

  it('asked for nothing is a usage error', () => {
    expect(config([]).status).toBe(2);
  });
});
