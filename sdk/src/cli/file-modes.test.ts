/** Who may read what is written: docs/explanation/threat-model.md, "Files". */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { annotated, push, ringOptions } from '../../../test/support/ring-traces.js';
import { runUscope } from '../../../test/support/run-cli.js';
import { announceDaemon } from '../bridge/daemon/daemon-file.js';
import { type RunSummary, writeRunJson } from '../bridge/report/run-json.js';
import { SessionStatus } from '../format/session-chunk.js';
import { openNodeOutput } from '../writer/output/output-file.js';
import { createRing } from '../writer/ring/index.js';

// All commands that write, under several umasks.
limitOfFile(MANY_CASES_MS);

let directory: string;
let umask: number;
const at = (name: string): string => join(directory, name);
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-modes-'));
  umask = process.umask();
});
afterEach(() => {
  process.umask(umask);
  rmSync(directory, { recursive: true, force: true });
});

/** Every file and directory below, with its mode. */
function modes(below: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const name of readdirSync(below, { recursive: true, encoding: 'utf8' }))
    found.set(name, statSync(join(below, name)).mode & 0o777);
  return found;
}

/** A trace of a flight recorder with the file of a trigger, left once with its spool; sees each state of the directory at every sync. */
async function recordAll(onSync: () => void): Promise<void> {
  const watched: typeof openNodeOutput = async (path, mode) => {
    const file = await openNodeOutput(path, mode);
    const sync = file.sync.bind(file);
    file.sync = async () => {
      await sync();
      onSync();
    };
    return file;
  };
  const writer = await createRing(ringOptions(at('core0.uscope'), { openOutput: watched }), {
    span: { ps: 50_000n },
  });
  for (let i = 0; i < 10; i++) {
    push(writer, annotated(i, i));
    await writer.flush();
  }
  writer.trigger('now');
  await writer.close({ status: SessionStatus.CLOSED });
}

/** Every verb that writes what was traced. */
async function rewriteAll(): Promise<void> {
  const trace = at('core0.uscope');
  const verbs = [
    ['slice', trace, '-o', at('slice.uscope')],
    ['merge', trace, at('core0.trigger-1.uscope'), '-o', at('merge.uscope')],
    ['recover', trace, '-o', at('recover.uscope')],
    ['convert', trace, '-o', at('trace.vcd')],
    ['stats', trace, '--html', at('stats.html')],
  ];
  // 3: written, and frames that the recorder let go are not in it.
  for (const args of verbs) expect([0, 3], args.join(' ')).toContain((await runUscope(args)).status);
}

describe('what says what was traced', () => {
  it.each([
    ['022, the usual one', 0o022, 0o640, 0o750],
    ['002, of people who share', 0o002, 0o640, 0o750],
    ['077, of people who do not', 0o077, 0o600, 0o700],
    ['000', 0, 0o640, 0o750],
  ])('is never for everyone, and as the umask says for the group: %s', async (_, mask, file, folder) => {
    process.umask(mask);
    const seen = new Map<string, number>();
    const look = (): void => {
      for (const [name, mode] of modes(directory)) seen.set(name, mode);
    };
    await recordAll(look);
    await rewriteAll();
    await writeRunJson(at('run.json'), {
      run: { id: new Uint8Array(16), startTimeMs: 0 } as RunSummary['run'],
      durationMs: 1,
      tracedMs: 1,
      command: ['simulate'],
      simulatorStatus: 0,
      exitStatus: 0,
      reports: [],
      refused: new Map(),
    });
    look();
    const isFolder = (name: string): boolean => name.endsWith('.ring');
    for (const [name, mode] of seen) expect([name, mode]).toEqual([name, isFolder(name) ? folder : file]);
    const names = [...seen.keys()].join(' ');
    for (const kind of [
      /\.segment/,
      /\.assembly/,
      /\/strings/,
      /header\.uscope/,
      /trigger-1\.uscope/,
      /run\.json/,
      /stats\.html/,
      /\.vcd/,
    ])
      expect(names).toMatch(kind);
  });

  it('replaced with --force has the mode of a new file', async () => {
    process.umask(0o022);
    await recordAll(() => {});
    await runUscope(['slice', at('core0.uscope'), '-o', at('slice.uscope')]);
    chmodSync(at('slice.uscope'), 0o644);
    await runUscope(['slice', at('core0.uscope'), '-o', at('slice.uscope'), '--force']);
    expect(modes(directory).get('slice.uscope')).toBe(0o640);
  });
});

it('only the user of a daemon learns how it is reached', async () => {
  process.umask(0);
  mkdirSync(at('out'));
  const forget = await announceDaemon(at('out'), 'ipc:///x', false, (why) => expect.fail(why));
  expect([...modes(at('out')).values()]).toEqual([0o600]);
  forget();
});
