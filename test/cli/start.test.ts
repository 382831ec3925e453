/** What the command loads for an answer about a trace: every module takes time, for which the user waits. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { coreSchema, frame, set, stage, TraceBuilder } from '../support/build-trace.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';

// Processes are started.
limitOfFile(PROCESSES_MS);

const command = fileURLToPath(new URL('../../sdk/bin/uscope.js', import.meta.url));
const DIST = fileURLToPath(new URL('../../sdk/dist/', import.meta.url));
if (!existsSync(join(DIST, 'cli/main.js'))) throw new Error('the SDK is not built: run npm run build first');

let directory: string;
let trace: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-start-'));
  trace = join(directory, 'a.uscope');
  const builder = new TraceBuilder({ schema: coreSchema, compression: 'lz4' });
  builder.segment({ frames: [frame(0, set(0, 1, 0, 1), stage(1, 0)), frame(5000, stage(1, 1))] });
  await writeFile(trace, builder.finalize().bytes);
});
afterAll(() => rm(directory, { recursive: true }));

/** The modules that one run of the command loads: ours by their path in `dist`, of others the package. Node writes all of them down. */
async function loadedBy(...args: string[]): Promise<{ ours: string[]; packages: string[] }> {
  const folder = await mkdtemp(join(directory, 'coverage-'));
  const out = execFileSync(process.execPath, [command, ...args], {
    env: { ...process.env, NODE_V8_COVERAGE: folder },
    encoding: 'utf8',
  });
  expect(out).not.toBe('');
  const urls: string[] = [];
  for (const name of await readdir(folder)) {
    const { result } = JSON.parse(await readFile(join(folder, name), 'utf8')) as {
      result: { url: string }[];
    };
    urls.push(...result.map(({ url }) => url).filter((url) => url.startsWith('file://')));
  }
  const paths = urls.map((url) => fileURLToPath(url));
  const packages = paths.flatMap((path) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  const ours = paths.filter((path) => path.startsWith(DIST)).map((path) => path.slice(DIST.length));
  return { ours, packages: [...new Set(packages)] };
}

/** The version of the product stands once, in a file that imports nothing. */
const VERSION_FILE = 'bridge/wire/version.js';

/** Folders of `dist` from which something is loaded. */
const foldersOf = (ours: readonly string[]): string[] =>
  [...new Set(ours.filter((path) => path !== VERSION_FILE).map((path) => path.split('/')[0]!))].sort();

describe('starting', () => {
  it('`timeline` needs the reader and the instructions of a core, nothing that writes, records or converts', async () => {
    const { ours, packages } = await loadedBy('timeline', trace, '--cycles', '0:5');
    expect(packages).toEqual(['commander']);
    expect(foldersOf(ours)).toEqual([
      'base',
      'cli',
      'codecs',
      'format',
      'protocols',
      'reader',
      'schema',
      'semantics',
      'state',
      'wasm',
    ]);
    const others = /http\.js$|analysis|summarizer|parse|yaml|together|json/;
    expect(ours.filter((path) => others.test(path))).toEqual([]);
  });

  it('`stats` needs the analysis besides, and tells by its first bytes that the file is a trace', async () => {
    const { ours, packages } = await loadedBy('stats', trace);
    expect(packages).toEqual(['commander']);
    expect(foldersOf(ours)).toEqual([
      'base',
      'cli',
      'codecs',
      'format',
      'formats',
      'protocols',
      'reader',
      'semantics',
      'state',
      'wasm',
    ]);
    expect(ours.filter((path) => path.startsWith('formats/')).sort()).toEqual([
      'formats/common/foreign-format.js',
      'formats/registry.js',
      'formats/sniff.js',
    ]);
    expect(ours.filter((path) => /http\.js$|html|tracker|summarizer/.test(path))).toEqual([]);
  });

  it('`info` needs the reader and the protocols alone', async () => {
    const { ours, packages } = await loadedBy('info', trace);
    expect(packages).toEqual(['commander']);
    expect(foldersOf(ours)).toEqual([
      'base',
      'cli',
      'codecs',
      'format',
      'formats',
      'protocols',
      'reader',
      'state',
      'wasm',
    ]);
    expect(ours.filter((path) => /http\.js$|follow|watch/.test(path))).toEqual([]);
  });
});
