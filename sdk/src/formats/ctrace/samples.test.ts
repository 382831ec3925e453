/**
 * Files of the existing writer against what the existing reader prints of them: small ones from test/vectors, with every type of argument, and a
 * larger one where it is at hand.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isUscopeError } from '../../base/errors.js';
import { canCompressZstd } from '../../codecs/zstd.js';
import { memorySource } from '../../reader/index.js';
import { MemoryOutput } from '../common/foreign-format.js';
import { encodeFooter } from './header.js';
import { ByteText, type CtraceBlock, CtraceFile, CtraceWriter, infoText, LineFormatter } from './index.js';
import { encodeSchema } from './schema.js';

const SHARED = fileURLToPath(new URL('../../../../../shared/samples/ctrace/', import.meta.url));
const VECTORS = fileURLToPath(new URL('../../../../test/vectors/ctrace/', import.meta.url));
const LARGE = 'pipe2k';
const NAMES = [
  ...['all_comp', 'all_nocomp', 'empty', 'noindex', 'noschema', 'tinyblock_incompressible'],
  ...(existsSync(SHARED) ? [LARGE] : []),
];
const pathOf = (name: string): string => (name.startsWith(LARGE) ? SHARED : VECTORS) + name;
const bytesOf = (name: string): Uint8Array => new Uint8Array(readFileSync(`${pathOf(name)}.ctrace`));
const open = (name: string) => CtraceFile.open(memorySource(bytesOf(name)));

async function dump(file: CtraceFile, javaScriptOnly = false): Promise<string> {
  const formatter = new LineFormatter(file.schema);
  const out = new ByteText();
  const stream = file.stream({ javaScriptOnly });
  while (await stream.more()) while (stream.cursor.next()) formatter.line(stream.cursor, out);
  return Buffer.from(out.used).toString();
}

describe('every sample', () => {
  it.each(NAMES)('%s: info is that of the existing reader', async (name) => {
    const text = await infoText(await open(name), {
      ...{ file: `samples-ctrace/${name}.ctrace`, verbose: true, utc: true },
    });
    expect(text).toBe(readFileSync(`${pathOf(name)}.info.txt`, 'utf8'));
  });

  it.each(NAMES)('%s: dump is that of the existing reader', async (name) => {
    const text = await dump(await open(name));
    // The existing reader finds no events without an index; this one does, and they are those of the same run.
    const listing = { noindex: 'all_comp.dump', pipe2k: 'pipe2k.dump_first2000' }[name] ?? `${name}.dump`;
    const expected = readFileSync(`${pathOf(listing)}.txt`, 'utf8');
    expect(name === 'pipe2k' ? text.slice(0, expected.length) : text).toBe(expected);
  });

  it('decompresses alike without the native decoder', async () => {
    expect(await dump(await open(NAMES.at(-1)!), true)).toBe(await dump(await open(NAMES.at(-1)!)));
  });

  it.each(NAMES)('%s: schema and index are encoded to the same bytes', async (name) => {
    const bytes = bytesOf(name);
    const file = await open(name);
    const { schemaOffset, schemaBytes, footerOffset, footerBytes } = file.header;
    if (schemaBytes > 0) {
      expect(file.schema.version).toBe(1);
      expect(encodeSchema(file.schema)).toEqual(bytes.slice(schemaOffset, schemaOffset + schemaBytes));
    }
    if (!file.footer) return;
    const blocks: CtraceBlock[] = [];
    for await (const block of file.blocks()) blocks.push(block);
    expect(encodeFooter(blocks, file.footer)).toEqual(bytes.slice(footerOffset, footerOffset + footerBytes));
  });

  it.each(NAMES.filter((name) => name !== 'tinyblock_incompressible'))(
    '%s is written again event by event, and the same is read',
    async (name) => {
      const file = await open(name);
      for (const compression of canCompressZstd() ? (['zstd', 'none'] as const) : (['none'] as const)) {
        const output = new MemoryOutput();
        const writer = new CtraceWriter(output, { schema: file.schema, compression });
        const stream = file.stream();
        const { cursor } = stream;
        while (await stream.more()) {
          while (cursor.next()) {
            const { cycle, formatId, category, source, argCount, argsAt, argsEnd } = cursor;
            const args = cursor.bytes.subarray(argsAt, argsEnd);
            writer.rawEvent({ cycle, formatId, category, source }, argCount, args);
            if (writer.isFull) await writer.flush();
          }
        }
        await writer.close();
        const again = await CtraceFile.open(memorySource(output.bytes));
        expect(await dump(again)).toBe(await dump(file));
        expect(again.isIndexed).toBe(name !== 'empty');
      }
    },
  );

  it('is read without its index, and when its writer was killed', async () => {
    const name = NAMES.at(-1)!;
    const expected = await dump(await open(name));
    const bytes = bytesOf(name);
    const { footerOffset } = (await open(name)).header;
    const killed = bytes.slice(0, footerOffset);
    killed.fill(0, 8, 48); // the places that are written last
    const file = await CtraceFile.open(memorySource(killed));
    expect(file.schema).toEqual((await open(name)).schema);
    const formatter = new LineFormatter(file.schema);
    const out = new ByteText();
    const stream = file.stream();
    try {
      while (await stream.more()) while (stream.cursor.next()) formatter.line(stream.cursor, out);
    } catch (error) {
      expect(isUscopeError(error) && error.code).toBe('CONVERT_TRUNCATED');
    }
    expect(Buffer.from(out.used).toString()).toBe(expected);
  });
});
