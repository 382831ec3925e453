/** An index beside a trace: the same as one made in order, whatever the threads and however often it was interrupted. */
import {
  chmod,
  lstat,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { indexOf } from '../../../../test/support/index-sums.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { build, generator, record } from '../../../../test/support/recorded-run.js';
import { crc32 } from '../../base/crc32.js';
import { decodeIndexContainer } from '../../format/index-container.js';
import { fileSource, openTraceFile } from '../../reader/node.js';
import { ChannelKind } from '../../trace-index/index.js';
import { openIndexOf } from '../../trace-index/node/index.js';
import { verifyTrace } from '../verify/index.js';
import { makeSidecar } from './index.js';

// Threads are started.
limitOfFile(MANY_CASES_MS);

const bytes = build(record(generator(11), 3000).frames, 40);
let directory: string;
let trace: string;
let output: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-sidecar-'));
  trace = join(directory, 'a.uscope');
  output = `${trace}.idx`;
  await writeFile(trace, bytes);
});
afterEach(() => rm(directory, { recursive: true }));

/** The containers in a sidecar, by order. */
async function containersOf(path: string) {
  const file = await readFile(path);
  const { results } = await indexOf(bytes);
  let at = 64;
  return results.map(() => {
    const container = decodeIndexContainer(file.subarray(at));
    at += file.readUInt32LE(at + 4);
    return container!.parts;
  });
}

const expected = async () => (await indexOf(bytes)).results.map(({ parts }) => parts.map(plain));
const plain = ({ kind, subject, bytes: content }: { kind: number; subject: number; bytes: Uint8Array }) => ({
  kind,
  subject,
  bytes: [...content],
});
const made = async () => (await containersOf(output)).map((parts) => parts.map(plain));

describe('an index beside a trace', () => {
  it.each([1, 2])('is what the segments give in order, with %i threads', async (threads) => {
    const report = await makeSidecar({ trace, output, threads });
    expect(report).toMatchObject({ result: 'made', segments: 75, resumed: 0, without: 0 });
    expect(report.bytes).toBe((await stat(output)).size);
    expect(await made()).toEqual(await expected());
  });

  it('is found and used', async () => {
    await makeSidecar({ trace, output, threads: 1 });
    const opened = await openTraceFile(trace);
    const index = await openIndexOf(opened, trace);
    expect([index!.origin, opened.warnings]).toEqual(['sidecar', []]);
    const retired = index!.channels.find(({ kind }) => kind === ChannelKind.RETIRED);
    const { channels } = await index!.series(retired!, { intervals: 1 });
    expect(channels[0]!.columns[0]!.values[0]).toBeGreaterThan(0);
    await index!.close();
    await opened.close();
  });

  it('continues after what an interrupted run has left', async () => {
    await makeSidecar({ trace, output, threads: 1 });
    const whole = await readFile(output);
    await rm(output);
    const interrupted = new AbortController();
    await expect(
      makeSidecar({
        trace,
        output,
        threads: 1,
        signal: interrupted.signal,
        onProgress: (share) => share > 0.4 && interrupted.abort(new Error('enough')),
      }),
    ).rejects.toThrow('enough');
    // The last container is cut, as by a power failure.
    await truncate(`${output}.part`, (await stat(`${output}.part`)).size - 5);
    const report = await makeSidecar({ trace, output, threads: 1 });
    expect(report.resumed).toBeGreaterThan(10);
    expect(report.resumed).toBeLessThan(75);
    expect((await readFile(output)).equals(whole)).toBe(true);
    await expect(stat(`${output}.part`)).rejects.toThrow(/ENOENT/);
  });

  it('is made once when two ask for it at the same time', async () => {
    const reports = await Promise.all([1, 1].map((threads) => makeSidecar({ trace, output, threads })));
    expect(reports.map(({ result }) => result).sort()).toEqual(['current', 'made']);
    expect(await made()).toEqual(await expected());
    expect((await readdir(directory)).sort()).toEqual(['a.uscope', 'a.uscope.idx']);
  });

  it('has the mode of its trace, and follows no links', async () => {
    const precious = join(directory, 'precious');
    await writeFile(precious, 'precious');
    await chmod(trace, 0o600);
    await symlink(precious, `${output}.part`);
    await symlink(precious, output);
    expect(await makeSidecar({ trace, output, threads: 1 })).toMatchObject({ result: 'made' });
    expect(await readFile(precious, 'utf8')).toBe('precious');
    const { mode } = await lstat(output);
    expect(mode & 0o170777).toBe(0o100600);
  });

  it('does not continue what others may have written', async () => {
    await writeFile(`${output}.part`, 'x'.repeat(1000));
    await chmod(`${output}.part`, 0o666);
    expect(await makeSidecar({ trace, output, threads: 1 })).toMatchObject({ result: 'made', resumed: 0 });
    expect((await stat(output)).mode & 0o777).toBe((await stat(trace)).mode & 0o777);
  });

  it('is not made again, unless that is asked for', async () => {
    await makeSidecar({ trace, output, threads: 1 });
    expect(await makeSidecar({ trace, output, threads: 1 })).toMatchObject({ result: 'current', bytes: 0 });
    expect(await makeSidecar({ trace, output, threads: 1, force: true })).toMatchObject({ result: 'made' });
  });

  it.each([
    [
      'of another trace',
      async () => writeFile(trace, build(record(generator(12), 3000).frames, 50)),
      /another trace/,
    ],
    ['that is cut', async () => truncate(output, (await stat(output)).size - 20), /directory is damaged/],
    ['that is not an index', async () => writeFile(output, 'a text'), /it is not an index/],
    [
      'with a flipped bit in its head',
      async () => {
        const file = await readFile(output);
        file[30]! ^= 4;
        await writeFile(output, file);
      },
      /it is not an index/,
    ],
  ])('is ignored %s, with a warning', async (_, damage, text) => {
    await makeSidecar({ trace, output, threads: 1 });
    await damage();
    const opened = await openTraceFile(trace);
    expect(await openIndexOf(opened, trace)).toBeNull();
    expect(opened.warnings.find(({ kind }) => kind === 'index-foreign')?.message).toMatch(text);
    await opened.close();
    // It is replaced, without being asked to.
    expect(await makeSidecar({ trace, output, threads: 1 })).toMatchObject({ result: 'made' });
  });
});

describe('verify, of an index beside a trace', () => {
  /** What it finds in the index, and where. */
  async function findings() {
    const [source, sidecar] = [await fileSource(trace), await fileSource(output)];
    const report = await verifyTrace(source, { sidecar });
    await source.close?.();
    await sidecar.close?.();
    return report.findings
      .filter(({ detail }) => detail.startsWith(`in ${output}: `))
      .map(({ severity, code, offset, detail }) => [
        severity,
        code,
        offset,
        detail.slice(`in ${output}: `.length),
      ]);
  }

  async function changed(change: (file: Buffer) => void): Promise<void> {
    await makeSidecar({ trace, output, threads: 1 });
    const file = await readFile(output);
    change(file);
    await writeFile(output, file);
  }

  it('finds nothing in what was made', async () => {
    await makeSidecar({ trace, output, threads: 1 });
    expect(await findings()).toEqual([]);
  });

  it('finds a flipped bit, and a number that is a lie', async () => {
    await changed((file) => {
      file[64 + 40]! ^= 1;
    });
    const opened = await openTraceFile(trace);
    const { offset } = await opened.segment(0);
    await opened.close();
    const wrong = `the index of the segment at ${offset}`;
    expect(await findings()).toEqual([['error', 'FORMAT_CHECKSUM', 64, `${wrong} is not what was written`]]);
    await changed((file) => {
      const size = file.readUInt32LE(64 + 4);
      file[64 + size - 9]! ^= 1;
      file.writeUInt32LE(crc32(file.subarray(64 + 12, 64 + size), 0), 64 + 8);
    });
    const [[severity, code, at, detail]] = (await findings()) as [[string, string, number, string]];
    expect([severity, code, at]).toEqual(['error', 'VERIFY_INDEX', 64]);
    expect(detail).toMatch(new RegExp(`^${wrong} (differs in its part|has other parts)`));
  });

  it('finds a directory that is cut or is not the one of its containers', async () => {
    await makeSidecar({ trace, output, threads: 1 });
    const { size } = await stat(output);
    const start = Number((await readFile(output)).readBigUInt64LE(40));
    await truncate(output, size - 5);
    expect(await findings()).toEqual([
      [
        'error',
        'VERIFY_INDEX',
        start,
        'the directory of the index does not belong to this trace, or is damaged',
      ],
    ]);
    await changed((file) => {
      file[start + 7]! ^= 2;
    });
    const detail = 'the directory of the index is not the one that its containers give, from here on';
    expect(await findings()).toEqual([['error', 'VERIFY_INDEX', start + 7, detail]]);
  });

  it('warns of one that is not used', async () => {
    await makeSidecar({ trace, output, threads: 1 });
    await writeFile(trace, build(record(generator(12), 3000).frames, 50));
    const [[severity, code, , detail]] = (await findings()) as [[string, string, number, string]];
    expect([severity, code]).toEqual(['warning', 'VERIFY_INDEX']);
    expect(detail).toMatch(/^it belongs to another trace/);
    await writeFile(output, 'a text');
    expect(await findings()).toEqual([
      ['error', 'VERIFY_INDEX', 0, 'it is not an index, or its head is damaged'],
    ]);
  });
});
