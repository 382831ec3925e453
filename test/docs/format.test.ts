/** docs/reference/format.md against the library: a decoder that follows the page alone finds in files what the library finds. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { openTrace, type TraceSummary } from 'uscope';
import { describe, expect, it } from 'vitest';
import { exampleText, exampleTrace, withExample } from '../../scripts/format-example.mjs';
import { ERROR_CODES } from '../../sdk/src/base/codes.js';
import { ChunkType } from '../../sdk/src/format/preamble.js';
import { SectionType } from '../../sdk/src/format/section-table.js';
import { nodeCodec } from '../../sdk/src/reader/node.js';
import { memorySource } from '../../sdk/src/reader/source.js';
import { listTrace } from '../compatibility/listing.mjs';
import { TraceBuilder, type TraceSpec } from '../support/build-trace.js';
import { modelSchema, runModel } from '../support/pipeline-model.js';
import { anyTrace, bytesOf } from '../support/random-trace.js';
import { decodeFile } from './format/file.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs/reference/format.md'), 'utf8');
const RELEASES = join(root, 'test/compatibility');
const FRAMES_PER_SEGMENT = 60;

const decode = (bytes: Uint8Array) =>
  decodeFile(bytes, { zstd: (frame, rawSize) => nodeCodec.zstd!(frame, rawSize) as Uint8Array });

/** What the library lists. */
async function listed(bytes: Uint8Array) {
  const trace = await openTrace(memorySource(bytes), { codec: nodeCodec });
  return listTrace(trace);
}

/** Both find the same; returns it. */
async function agreed(bytes: Uint8Array) {
  const { listing, forms } = decode(bytes);
  expect(listing).toEqual(await listed(bytes));
  return { listing, forms: [...forms].sort() };
}

describe('the worked example', () => {
  it('is what the writer writes (npm run docs:format)', async () => {
    expect(withExample(page, await exampleText())).toBe(page);
  });

  it('reads back from the dump on the page', async () => {
    const dump = page.slice(page.indexOf('```text', page.indexOf('<!-- example -->')));
    const hex = [...dump.matchAll(/^[0-9a-f]{4} {2}((?:[0-9a-f]{2} ?)+)(?: |$)/gm)].map(([, bytes]) => bytes);
    const bytes = new Uint8Array(Buffer.from(hex.join('').replaceAll(' ', ''), 'hex'));
    expect(bytes).toEqual(await exampleTrace());
    const { listing } = await agreed(bytes);
    expect(listing.frames).toEqual([
      '1000 | set 0 2 0 = 2147483652 | event 0 00000000',
      '2000 | set 0 2 1 = 1 | add 1 0 0 = 1',
    ]);
    expect(listing.strings).toEqual(['hello']);
    expect(listing.state).toEqual(['0[2] 2147483652 1', '1[0] 1']);
  });
});

describe('a decoder that follows the page', () => {
  const files = readdirSync(RELEASES, { recursive: true, encoding: 'utf8' })
    .filter(
      (name) => /^\d.*\.json$/.test(name) && existsSync(join(RELEASES, name.replace(/json$/, 'uscope'))),
    )
    .map((name) => name.replace(/json$/, 'uscope'));

  it.each(files)('finds in %s what its listing says', (name) => {
    const path = join(RELEASES, name);
    const stored = JSON.parse(readFileSync(path.replace(/uscope$/, 'json'), 'utf8'));
    expect(decode(new Uint8Array(readFileSync(path))).listing).toMatchObject(stored);
  });

  const kinds: [string, TraceSpec, string[]][] = [
    ['0.3, interleaved', { schema: modelSchema() }, ['compact', 'event', 'wide']],
    ['0.3, LZ4', { schema: modelSchema(), compression: 'lz4' }, ['compact', 'event', 'wide']],
    [
      '0.2 of another writer',
      { schema: modelSchema(), minor: 2, session: null, unaligned: true },
      ['compact', 'event', 'wide'],
    ],
    [
      '0.1 of another writer',
      { schema: modelSchema(), minor: 1, session: null, interleaved: false },
      ['compact', 'event', 'wide'],
    ],
    [
      '0.1 with CSUM',
      { schema: modelSchema(), minor: 1, session: null, interleaved: false, csum: true },
      ['compact', 'event', 'wide'],
    ],
  ];

  it.each(kinds)('agrees with the library on the trace of a pipeline: %s', async (_name, spec, expected) => {
    let seed = 7;
    const { frames, strings } = runModel((below) => {
      seed = (seed * 1_103_515_245 + 12_345) % 0x8000_0000;
      return seed % below;
    }, 300);
    const builder = new TraceBuilder(spec);
    for (let first = 0; first < frames.length; first += FRAMES_PER_SEGMENT)
      builder.segment({
        frames: frames.slice(first, first + FRAMES_PER_SEGMENT),
        strings: first === 0 ? strings : [],
      });
    const { listing, forms } = await agreed(builder.bytes.slice());
    expect(forms).toEqual(expected);
    expect(listing.frames).toHaveLength(frames.length);
    builder.finalize({ summary: spec.csum ? { ...someSummary, density: [] } : someSummary });
    const closed = await agreed(builder.bytes);
    expect(closed.listing.strings).toEqual(strings);
    expect(closed.listing.summary?.instructions).toBe(spec.csum ? '0' : '7');
  });

  it('agrees with the library on any trace', async () => {
    await fc.assert(
      fc.asyncProperty(anyTrace, async (trace) => {
        await agreed(bytesOf(trace));
      }),
      { numRuns: 50 },
    );
  });
});

const someSummary: TraceSummary = {
  baseIntervalCycles: 1024,
  fanOut: 4,
  totalInstructions: 7n,
  density: [Uint32Array.of(3, 4), Uint32Array.of(7)],
  counters: [
    {
      name: 'retired',
      storageId: 3,
      levels: [{ min: BigUint64Array.of(1n), max: BigUint64Array.of(2n), sum: BigUint64Array.of(1n << 63n) }],
    },
  ],
};

describe('what the page lists', () => {
  const hex = (id: number): string => `0x${id.toString(16).toUpperCase().padStart(4, '0')}`;

  it('is every chunk and section that the code knows', () => {
    const ids = [...Object.values(ChunkType), ...Object.values(SectionType)].map(hex);
    expect(ids.filter((id) => !page.includes(`| ${id} |`))).toEqual([]);
  });

  it('is every magic of ours, in the registry unless it is one of the format', () => {
    const folder = fileURLToPath(new URL('../../sdk/src/', import.meta.url));
    const names = (readdirSync(folder, { recursive: true }) as string[]).filter((name) =>
      /(?<!\.test)\.ts$/.test(name),
    );
    const magics = names.flatMap((name) =>
      [...readFileSync(join(folder, name), 'utf8').matchAll(/MAGIC = 0x([0-9a-f]{8})\b/g)].map(([, digits]) =>
        Buffer.from(digits!, 'hex').reverse().toString('latin1'),
      ),
    );
    const ours = [...new Set(magics)].filter((magic) => /^u[A-Z]{3}$/.test(magic));
    expect(ours).toEqual(expect.arrayContaining(['uSCP', 'uSEG', 'uREC', 'uMEM']));
    const [, registry] = /### Registry\n([\s\S]*?)\n### /.exec(page)!;
    const missing = ours.filter((magic) => !registry!.includes(`| \`${magic}\` |`));
    expect(missing.sort()).toEqual(['uSCP', 'uSEG']);
  });

  it('is codes that exist', () => {
    const codes = [...page.matchAll(/\b(?:FORMAT|SCHEMA|READER)_[A-Z0-9_]+\b/g)].map(([code]) => code);
    expect(codes.length).toBeGreaterThan(20);
    expect(codes.filter((code) => !(code in ERROR_CODES))).toEqual([]);
  });
});
