/**
 * What earlier releases have left: the files and conversations in the folder of each (docs/reference/compatibility.md). This release reads the files, goes
 * on with those that were not finished, and answers the recorded clients.
 */
import { cpSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  createCpuSummarizer,
  openTraceFile,
  parseSchema,
  recoverTrace,
  resumeTrace,
  type Schema,
  SessionStatus,
  verifyTrace,
} from 'uscope';
import { afterEach, describe, expect, it } from 'vitest';
import { PROTOCOL_VERSION } from '../../sdk/src/bridge/wire/protocol.js';
import { VERSION_MAJOR, VERSION_MINOR } from '../../sdk/src/format/header.js';
import { SESSION_LAYOUT } from '../../sdk/src/format/session-chunk.js';
import { fileSource, nodeCodec } from '../../sdk/src/reader/node.js';
import { GRAMMAR_VERSION } from '../../sdk/src/schema/limits.js';
import { RecordBatch } from '../../sdk/src/writer/records/record-batch.js';
import { recoverSpool, resumeRing } from '../../sdk/src/writer/ring/index.js';
import { BridgeBench, TempDirs } from '../support/bridge-peer.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { buildSdk, Running } from '../support/processes.js';
import { type Listing, listSchema, listTrace } from './listing.mjs';
import { Conversation } from './replay.js';

// Daemons are started, and waited for.
limitOfFile(PROCESSES_MS);

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HERE = fileURLToPath(new URL('.', import.meta.url));
const RELEASES = readdirSync(HERE).filter((name) => /^\d+\.\d+\.\d+$/.test(name));
const MAX_FOLDER_BYTES = 500_000;
/** Frames added to a trace that is continued. */
const MORE_FRAMES = 3;

const dirs = new TempDirs();
const bench = new BridgeBench();

afterEach(async () => {
  await bench.cleanUp();
  dirs.cleanUp();
});

const readJson = (path: string): Listing => JSON.parse(readFileSync(path, 'utf8')) as Listing;

/** Names of the files in a folder that end so, without that end. */
const namesIn = (folder: string, suffix: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(suffix))
    .map((name) => name.slice(0, -suffix.length));

async function listFile(path: string): Promise<Listing> {
  const trace = await openTraceFile(path);
  try {
    return await listTrace(trace);
  } finally {
    await trace.close();
  }
}

async function schemaOf(path: string): Promise<Schema> {
  const trace = await openTraceFile(path);
  await trace.close();
  return trace.schema;
}

async function expectVerified(path: string): Promise<void> {
  const source = await fileSource(path);
  const { findings } = await verifyTrace(source, { codec: nodeCodec });
  await source.close?.();
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
}

const sessionOf = ({ session }: Listing): Uint8Array => Buffer.from(String(session?.session), 'hex');

/** Frames after what a listing has, with one ADD of 1 to the counter `core0/committed_insns` each. */
function framesBehind(from: bigint, firstOrdinal: number): { batch: RecordBatch; lines: string[] } {
  const batch = new RecordBatch();
  const lines: string[] = [];
  for (let i = 0; i < MORE_FRAMES; i++) {
    const time = from + BigInt(i + 1) * 1000n;
    batch.begin(time);
    batch.op(3, 4, 0, 0, 1, 0);
    batch.end(1, firstOrdinal + i);
    lines.push(`${time} | add 4 0 0 = 1`);
  }
  return { batch, lines };
}

it('at least one release has left something', () => {
  expect(RELEASES).not.toEqual([]);
});

it('the page says which versions this release writes', () => {
  const page = readFileSync(join(HERE, '../../docs/reference/compatibility.md'), 'utf8');
  const { version } = JSON.parse(readFileSync(join(HERE, '../../sdk/package.json'), 'utf8'));
  expect(page).toContain(`| what ${version} writes | version |`);
  expect(page).toContain(`| trace files | ${VERSION_MAJOR}.${VERSION_MINOR}, `);
  expect(page).toContain(`| wire protocol | ${PROTOCOL_VERSION} |`);
  expect(page).toContain(`| schema grammar | \`uscope: ${GRAMMAR_VERSION}\` |`);
  expect(page).toContain(`| session chunk | layout ${SESSION_LAYOUT} |`);
});

it('npm run compatibility makes such a folder', async () => {
  buildSdk();
  const folder = join(dirs.make(), 'release');
  const run = new Running(process.execPath, ['scripts/compatibility.mjs', '--no-python', '--out', folder], {
    cwd: ROOT,
  });
  const { status, stdout, stderr } = await run.ended;
  expect({ status, stdout, stderr }).toMatchObject({ status: 0 });
  const filesOf = (path: string): string[] =>
    readdirSync(path, { recursive: true, encoding: 'utf8' }).filter(
      (name) => !/python|\.segment$/.test(name),
    );
  expect(filesOf(folder).sort()).toEqual(filesOf(join(HERE, RELEASES[RELEASES.length - 1])).sort());
  const { frames } = readJson(join(folder, 'conversations/c.json'));
  expect(readJson(join(folder, 'conversations/c-restart.json')).frames).toEqual(frames);
});

describe.each(RELEASES)('what release %s has left', (release) => {
  const folder = join(HERE, release);
  const traces = join(folder, 'traces');
  const conversations = join(folder, 'conversations');
  const schemas = join(folder, 'schemas');
  const listings = new Map(
    namesIn(traces, '.uscope').map((name) => [name, readJson(join(traces, `${name}.json`))]),
  );
  const closed = [...listings].filter(([, { complete }]) => complete).map(([name]) => name);
  const open = [...listings].filter(([, { complete }]) => !complete).map(([name]) => name);

  it('is small enough to be kept', () => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) =>
      statSync(join(folder, name)),
    );
    expect(files.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(MAX_FOLDER_BYTES);
  });

  describe('trace files', () => {
    it.each([...listings.keys()])('%s holds what its listing says', async (name) => {
      expect(await listFile(join(traces, `${name}.uscope`))).toMatchObject({ ...listings.get(name) });
    });

    it.each(closed)('%s passes verification', async (name) => {
      await expectVerified(join(traces, `${name}.uscope`));
    });

    it('names each way in which a file can end, and each compression', () => {
      const statuses = [...listings.values()].map(({ session }) => session?.status);
      expect(new Set(statuses)).toEqual(new Set([0, 1, 3, 4]));
      const methods = [...listings.values()].map(({ compression }) => compression);
      expect(new Set(methods)).toEqual(new Set(['none', 'lz4', 'zstd']));
    });
  });

  describe('unfinished files', () => {
    /** What the writer had written without linking it is in the recovered file, and is taken by who resumes. */
    const whole = (name: string): Listing => listings.get(name === 'torn' ? 'recovered' : name)!;

    it.each(open)('%s is continued by its session, and closed', async (name) => {
      const listing = whole(name);
      const path = join(dirs.make(), 'core0.uscope');
      cpSync(join(traces, `${name}.uscope`), path);
      const schema = await schemaOf(path);
      const writer = await resumeTrace({ path, schema, sessionId: sessionOf(listing), maxDelayMs: 0 });
      expect(writer).not.toBeNull();
      const { batch, lines } = framesBehind(BigInt(listing.totalTime), Number(writer!.nextFrame));
      writer!.push(batch.words, 0, batch.length);
      const stats = await writer!.close({ status: SessionStatus.CLOSED });
      const now = await listFile(path);
      expect(now.frames).toEqual([...listing.frames, ...lines]);
      expect(now.strings.slice(0, listing.strings.length)).toEqual(listing.strings);
      expect(Number(stats.frames)).toBe(listing.frames.length + MORE_FRAMES);
      await expectVerified(path);
    });

    it('torn is recovered with what recovery gave then', async () => {
      const output = join(dirs.make(), 'recovered.uscope');
      await recoverTrace({ input: join(traces, 'torn.uscope'), output });
      const { frames, strings, state } = listings.get('recovered')!;
      expect(await listFile(output)).toMatchObject({ frames, strings, state });
    });
  });

  describe('flight recorder', () => {
    const spool = join(traces, 'killed.ring');
    const listing = readJson(join(traces, 'killed.ring.json'));

    it('the spool of a killed one is recovered', async () => {
      const output = join(dirs.make(), 'recovered.uscope');
      await recoverSpool(spool, output, createCpuSummarizer);
      expect(await listFile(output)).toMatchObject({ ...listing });
    });

    it('the spool of a killed one is continued by its session, and closed', async () => {
      const directory = dirs.make();
      cpSync(spool, join(directory, 'core0.ring'), { recursive: true });
      const path = join(directory, 'core0.uscope');
      const schema = await schemaOf(join(spool, 'header.uscope'));
      const options = { path, schema, sessionId: sessionOf(listing), maxDelayMs: 0 };
      const ring = await resumeRing(options, { span: { ps: 1_000_000n } });
      const { batch, lines } = framesBehind(BigInt(listing.totalTime), Number(ring!.nextFrame));
      ring!.push(batch.words, 0, batch.length);
      await ring!.close({ status: SessionStatus.CLOSED });
      expect((await listFile(path)).frames).toEqual([...listing.frames, ...lines]);
    });
  });

  describe('conversations', () => {
    it.each(namesIn(conversations, '.frames'))('of %s: the same answers, the same trace', async (name) => {
      const conversation = new Conversation(join(conversations, `${name}.frames`), bench);
      const path = await conversation.replay();
      const { frames, strings, state, schema, totalTime, ...recorded } = readJson(
        join(conversations, `${name}.json`),
      );
      expect(await listFile(path)).toMatchObject({
        complete: true,
        frames,
        strings,
        state,
        schema,
        totalTime,
        session: { ...recorded.session, run: expect.any(String) }, // the daemon's choice: the client named none
      });
      await expectVerified(path);
    });
  });

  describe('schema files', () => {
    it.each(namesIn(schemas, '.yaml'))('%s means what it meant', (name) => {
      const { schema, dut } = parseSchema(readFileSync(join(schemas, `${name}.yaml`), 'utf8'), {
        variables: { core: '0' },
      });
      const expected = JSON.parse(readFileSync(join(schemas, `${name}.json`), 'utf8'));
      expect({ ...listSchema(schema), dut }).toMatchObject(expected);
    });
  });
});
