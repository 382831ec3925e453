/** The file that is served as a trace: the one that was opened, and a new one of its path only where that may be handed out. */
import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { coreSchema, TraceBuilder } from '../../../../../test/support/build-trace.js';
import type { UscopeError } from '../../../base/errors.js';
import { type OpenTrace, openServedTrace, type ServedTraceOptions } from './served-trace.js';

const traceOf = (name: string): Uint8Array =>
  new TraceBuilder({ schema: coreSchema, dut: [['name', name]] }).bytes;
const SECRET = 'a password\n'.repeat(20);

let directory: string;
let path: string;
let refused: UscopeError[];
const opened: OpenTrace[] = [];
const at = (name: string): string => join(directory, name);

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-served-'));
  path = at('core0.uscope');
  refused = [];
  writeFileSync(path, traceOf('old'));
  writeFileSync(at('secret'), SECRET);
  writeFileSync(at('other'), traceOf('other'));
});
afterEach(async () => {
  for (const trace of opened.splice(0)) await trace.close();
  rmSync(directory, { recursive: true, force: true });
});

async function open(file = path, options: ServedTraceOptions = {}): Promise<OpenTrace> {
  const trace = await openServedTrace(file, { onRefused: (error) => refused.push(error), ...options });
  opened.push(trace);
  return trace;
}

/** All that the server hands out of a trace, in all of its ways. */
async function handedOut(trace: OpenTrace): Promise<string> {
  const pinned = await trace.pinned!();
  const parts: Uint8Array[] = [];
  for (const one of [trace, pinned]) {
    const size = await one.size();
    parts.push(
      await one.read(0, size),
      ...((await one.grown!('latest')) ?? []),
      ...((await one.grown!(0)) ?? []),
    );
    parts.push(Buffer.from(await one.mark!()), Buffer.from(await one.version()));
  }
  return Buffer.concat(parts).toString('latin1');
}

/** Of another file, put in place of the trace. */
const REPLACEMENTS: Record<string, () => void> = {
  'a link to a file that is not a trace': () => symlinkSync(at('secret'), at('new')),
  'a link to a trace': () => symlinkSync(at('other'), at('new')),
  'a hard link to a file that is not a trace': () => linkSync(at('secret'), at('new')),
  'a file that is not a trace': () => writeFileSync(at('new'), SECRET),
  'a directory': () => {
    rmSync(path);
    mkdirSync(at('new'));
  },
  'a pipe': () => execFileSync('mkfifo', [at('new')]),
};

describe('a trace that is replaced', () => {
  it('by another trace is another version from then on; answers under way stay with the old one', async () => {
    const trace = await open();
    const before = await trace.version();
    const pinned = await trace.pinned!();
    writeFileSync(at('new'), traceOf('a new one'));
    renameSync(at('new'), path);
    expect(await trace.version()).not.toBe(before);
    expect([await trace.size(), await pinned.size()]).toEqual([
      traceOf('a new one').length,
      traceOf('old').length,
    ]);
    expect(Buffer.from(await pinned.read(0, 1000)).equals(traceOf('old'))).toBe(true);
    expect(Buffer.from(await trace.read(0, 1000)).equals(traceOf('a new one'))).toBe(true);
    expect(await trace.whereNow()).toBe(path);
    expect(refused).toEqual([]);
  });

  it.each(Object.entries(REPLACEMENTS))('by %s is served as it was opened', async (_, make) => {
    const trace = await open();
    const before = await handedOut(trace);
    make();
    renameSync(at('new'), path);
    for (let times = 0; times < 2; times++) expect(await handedOut(trace)).toBe(before);
    // Readers by path, such as SQL, read no other file either.
    await expect(trace.whereNow()).rejects.toMatchObject({ code: 'READER_UNTRUSTED' });
    expect(refused).toHaveLength(1);
    expect(refused[0]!.place.file).toBe(path);
  });

  it('by one that is still empty is served as it was, without a word, until that is a trace', async () => {
    const trace = await open();
    const before = await trace.version();
    writeFileSync(at('new'), '');
    renameSync(at('new'), path);
    expect(await trace.version()).toBe(before);
    writeFileSync(path, traceOf('a new one'));
    expect(await trace.version()).not.toBe(before);
    expect(refused).toEqual([]);
  });
});

describe('a link', () => {
  beforeEach(() => symlinkSync(path, at('link')));

  it('that the user names is followed, also to another trace, but to no other file', async () => {
    const trace = await open(at('link'));
    const before = await trace.version();
    symlinkSync(at('other'), at('new'));
    renameSync(at('new'), at('link'));
    expect(await trace.version()).not.toBe(before);
    const shown = await handedOut(trace);
    symlinkSync(at('secret'), at('new'));
    renameSync(at('new'), at('link'));
    expect(await handedOut(trace)).toBe(shown);
    expect(refused).toMatchObject([{ code: 'FORMAT_MAGIC' }]);
  });

  it('that nobody named is not followed', async () => {
    await expect(open(at('link'), { followsLinks: false })).rejects.toMatchObject({
      code: 'READER_UNTRUSTED',
    });
  });
});

it.each(['secret', 'none', '.'])('is not opened: %s', async (name) => {
  await expect(open(at(name))).rejects.toMatchObject({
    code: expect.stringMatching(/^(FORMAT_MAGIC|READER_OPEN)$/),
  });
});

it.skipIf(process.getuid?.() !== 0)(
  'takes a new file of the owner it had, but of no third user',
  async () => {
    const { chownSync } = await import('node:fs');
    chownSync(path, 65_534, 65_534);
    const trace = await open();
    const replace = (uid: number): Promise<string> => {
      writeFileSync(at('new'), traceOf(`of ${uid}`));
      chownSync(at('new'), uid, uid);
      renameSync(at('new'), path);
      return trace.version();
    };
    const first = await trace.version();
    expect(await replace(65_533)).toBe(first);
    expect(refused).toMatchObject([{ code: 'READER_UNTRUSTED' }]);
    const own = await replace(65_534);
    expect(own).not.toBe(first);
    expect(await replace(0)).not.toBe(own);
    // Who owned it before is a stranger now that it is root's.
    const roots = await trace.version();
    expect(await replace(65_534)).toBe(roots);
  },
);
