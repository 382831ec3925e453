/** Every sample of LWTR4SC against the listing that an independent decoder made of it, and against itself written again. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { encoded, everything, written } from '../../../../test/support/ftr-fixtures.js';
import { lacks } from '../../../../test/support/needs.js';
import { memorySource } from '../../reader/index.js';
import { FtrFile, FtrModel, relationEntries, TransactionCursor } from './index.js';
import { decodeChunk } from './reader.js';
import { type FtrAttribute, type FtrChunk, PHASE_NAMES, TYPE_NAMES } from './types.js';
import { shownText } from './values.js';

const SAMPLES = fileURLToPath(new URL('../../../../../shared/samples/ftr/', import.meta.url));
const VECTORS = fileURLToPath(new URL('../../../../test/vectors/ftr/', import.meta.url));
const filesIn = (directory: string): string[] =>
  existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith('.ftr')) : [];
const whole = filesIn(SAMPLES).filter((name) => !name.startsWith('crash'));
const open = (bytes: Uint8Array) => FtrFile.open(memorySource(bytes));

/** Lines of streams, generators, transactions, attributes and relations as the listings have them, without times of blocks. */
async function list(bytes: Uint8Array): Promise<string[]> {
  const model = new FtrModel();
  const lines: string[] = [];
  for await (const chunk of (await open(bytes)).chunks()) {
    const declared = model.declarations.length;
    if (model.take(chunk)) {
      for (const entry of model.declarations.slice(declared)) {
        const name = python(shownText(entry.name));
        const rest = entry.kind === 'stream' ? python(shownText(entry.streamKind)) : `stream=${entry.stream}`;
        lines.push(`${entry.kind} ${entry.id} ${name} ${rest}`);
      }
    } else if (chunk.kind === 'relations') {
      for (const { name, source, sink, sourceStream, sinkStream } of [...relationEntries(chunk)].map((one) =>
        model.relation(one),
      )) {
        const streams = `src/sink stream [${sourceStream}, ${sinkStream}]`;
        lines.push(`${python(shownText(name))} src tx ${source} sink tx ${sink} ${streams}`);
      }
    } else {
      const cursor = new TransactionCursor(chunk);
      while (cursor.next()) {
        const { id, generator, start, end, attributes } = model.transaction(cursor, chunk.stream);
        lines.push(`tx id=${id} gen=${generator} [${start}..${end}]`);
        lines.push(...attributes.map((one, i) => attributeLine(one, cursor.los[i])));
      }
    }
  }
  return lines;
}

function attributeLine({ phase, name, type, value }: FtrAttribute, lo: number): string {
  const head = `${PHASE_NAMES[phase].toUpperCase()} ${python(shownText(name))} ${TYPE_NAMES[type]}`;
  if (value instanceof Uint8Array)
    return `${head} ${lo}  -> "b'${[...value].map((byte) => `\\\\x${byte.toString(16)}`).join('')}'"`;
  if (typeof value === 'string') return `${head} ${lo}  -> ${python(value)}`;
  if (typeof value === 'boolean') return `${head} ${value ? 'True' : 'False'}`;
  if (typeof value === 'bigint') return `${head} ${value}`;
  return `${head} ${Number.isNaN(value) ? 'nan' : value}`;
}

const python = (text: string): string => `'${text.replaceAll('\0', '\\x00')}'`;

/** What the listing has of them; -1 of UNSIGNED is what that type cannot hold. */
function expected(name: string): string[] {
  return readFileSync(`${SAMPLES}${name.replace('.ftr', '.listing.txt')}`, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^(stream \d|generator|tx id|BEGIN|RECORD|END|'.*' src tx)/.test(line))
    .map((line) =>
      line.replace("'unsigned_from_ll' UNSIGNED -1", "'unsigned_from_ll' UNSIGNED 18446744073709551615"),
    );
}

async function chunksOf(bytes: Uint8Array): Promise<FtrChunk[]> {
  const chunks: FtrChunk[] = [];
  for await (const chunk of (await open(bytes)).records()) chunks.push(chunk);
  return chunks;
}

describe.skipIf(lacks('samples of other tools', whole.length > 0))('every sample', () => {
  it.each(whole)('%s reads as listed', async (name) => {
    const lines = await list(readFileSync(SAMPLES + name));
    expect(lines).toEqual(expected(name));
    if (!name.startsWith('empty')) expect(lines.length).toBeGreaterThan(10);
  });

  it.each(whole.filter((name) => name.includes('plain')))(
    '%s written again has the same bytes',
    async (name) => {
      const bytes = readFileSync(SAMPLES + name);
      expect(Buffer.from(encoded(await chunksOf(bytes))).equals(bytes)).toBe(true);
    },
  );

  it.each(whole.filter((name) => name.includes('lz4')))(
    '%s written again has the same content',
    async (name) => {
      const chunks = await chunksOf(readFileSync(SAMPLES + name));
      expect(await chunksOf(encoded(chunks, true))).toEqual(chunks);
      expect(await chunksOf(encoded(chunks))).toEqual(chunks);
    },
  );

  it('of a run that was killed gives everything that is there', async () => {
    const bytes = readFileSync(`${SAMPLES}crash_big_lz4.ftr`);
    let transactions = 0;
    const read = async (): Promise<void> => {
      for await (const chunk of (await open(bytes)).records())
        if (chunk.kind === 'transactions') transactions += chunk.transactions.length;
    };
    await expect(read()).rejects.toMatchObject({
      code: 'CONVERT_TRUNCATED',
      place: { offset: bytes.length },
    });
    expect(transactions).toBe(24_541);
    await expect(chunksOf(readFileSync(`${SAMPLES}crash_small_lz4.ftr`))).rejects.toThrow(
      /CONVERT_TRUNCATED/,
    );
  });
});

describe('files of our own', () => {
  it.each(filesIn(VECTORS))('%s is what the writer writes', async (name) => {
    const compression = name.includes('lz4') ? 'lz4' : 'none';
    const bytes = readFileSync(VECTORS + name);
    const again = await written(everything(), { compression });
    // The same content may be packed in other ways.
    if (compression === 'none') expect(Buffer.from(again).equals(bytes)).toBe(true);
    expect(await chunksOf(bytes)).toEqual(await chunksOf(again));
  });

  it('are there', () => expect(filesIn(VECTORS)).toHaveLength(2));

  it('plain ones written again have the same bytes', async () => {
    const bytes = await written(everything(), { compression: 'none' });
    expect(Buffer.from(encoded(await chunksOf(bytes))).equals(Buffer.from(bytes))).toBe(true);
  });

  it('heads of numbers are as long as the usual writer has them', async () => {
    const ids = [
      0n,
      23n,
      24n,
      254n,
      255n,
      256n,
      65_534n,
      65_535n,
      65_536n,
      0xffff_fffen,
      0xffff_ffffn,
      1n << 32n,
    ];
    const relations = ids.map((id) => ({ name: 0, source: id, sink: 0n, sourceStream: 0n, sinkStream: 0n }));
    const bytes = encoded([{ kind: 'relations', relations }]);
    const chunk = (await chunksOf(bytes))[0];
    expect(chunk).toEqual({ kind: 'relations', relations });
    expect(bytes.length).toBe(
      4 + 1 + 2 + 2 + ids.length * 5 + (1 + 1 + 2 + 2 + 3 + 3 + 3 + 5 + 5 + 5 + 9 + 9) + 1,
    );
    const hex = Buffer.from(bytes).toString('hex');
    expect(hex).toContain('85001900ff000000');
    expect(hex).toContain('85001bffffffff'.replace('ffffffff', '00000000ffffffff'));
  });
});

describe('a chunk', () => {
  it('is decoded by its kind', async () => {
    const bytes = await written(everything());
    const kinds: string[] = [];
    for await (const chunk of (await open(bytes)).chunks()) kinds.push(decodeChunk(chunk)?.kind ?? 'none');
    expect(kinds).toEqual([
      'info',
      'dictionary',
      'directory',
      'dictionary',
      'transactions',
      'transactions',
      'relations',
    ]);
  });
});
