/** The foreign formats in a page: each program runs in Node and in Chromium, with the same files, and says the same. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, chromiumPath, startChromium } from '../support/chromium.js';
import { everyEntry, put, written as writtenFlux } from '../support/flux-fixtures.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { type PageServer, startPageServer } from '../support/page-server.js';
import { zstdForTests } from '../support/zstd.js';

// A browser is started.
limitOfFile(PROCESSES_MS);

const dist = new URL('../../sdk/dist/', import.meta.url);
if (!existsSync(fileURLToPath(new URL('codecs/browser', dist))))
  throw new Error('the SDK is not built: run npm run build first');

const NAMES = ['ctrace', 'flux', 'ftr', 'gem5', 'konata', 'perfetto', 'stf', 'vcd'];
const vector = (path: string): Uint8Array => readFileSync(new URL(`../vectors/${path}`, import.meta.url));

/** In front of each program: what it may use besides `load` (a module by its name) and `file` (bytes). */
const PRELUDE = `
  const { memorySource } = await load('uscope/reader');
  const source = memorySource(file, 'sample');
  const plain = (value) => JSON.stringify(value, (_, v) =>
    typeof v === 'bigint' ? v + 'n' : v instanceof Uint8Array ? [...v].join(' ') : v);
  const sink = () => {
    const all = [];
    return { all, write: async (bytes) => void all.push(...bytes), patch: async (at, bytes) => void all.splice(at, bytes.length, ...bytes) };
  };`;

type Program = (load: (name: string) => Promise<unknown>, file: Uint8Array) => Promise<string>;
const AsyncFunction = (async () => undefined).constructor as new (...args: string[]) => Program;

const loadFromDist = (name: string) =>
  import(/* @vite-ignore */ new URL(`${name.replace('uscope/', '')}/index.js`, dist).href);

const inNode = (program: string, file: Uint8Array): Promise<string> =>
  new AsyncFunction('load', 'file', PRELUDE + program)(loadFromDist, new Uint8Array(file));

const STF_RECORDS = `
  const { StfFile } = await load('uscope/formats/stf');
  const records = [];
  try { for await (const record of (await StfFile.open(source)).records()) records.push(record); }
  catch (error) { return records.length + ' records, ' + error.code; }
  return plain(records);`;
const FLUX_ENTRIES = `
  const { FluxFile } = await load('uscope/formats/flux');
  const entries = [];
  for await (const entry of new FluxFile(source).entries()) entries.push(entry);
  return plain(entries);`;
const CTRACE_TEXT = `
  const { CtraceFile, dumpText } = await load('uscope/formats/ctrace');
  let text = '';
  await dumpText(await CtraceFile.open(source), {}, (bytes) => { text += new TextDecoder().decode(bytes); });
  return text;`;
const FTR_RECORDS = `
  const { FtrFile } = await load('uscope/formats/ftr');
  const chunks = [];
  for await (const chunk of (await FtrFile.open(source)).records()) chunks.push(chunk);
  return plain(chunks);`;
const GEM5_INSTRUCTIONS = `
  const { Gem5Reader } = await load('uscope/formats/gem5');
  const all = [];
  for await (const batch of new Gem5Reader(source).batches()) all.push(...batch);
  return plain(all);`;
const KONATA_RECORDS = `
  const { KanataReader } = await load('uscope/formats/konata');
  const all = [];
  for await (const record of new KanataReader(source).records()) all.push(record);
  return plain(all);`;
/** Written and read back, gzip and all. */
const KONATA_WRITTEN = `
  const { KanataReader, KanataWriter } = await load('uscope/formats/konata');
  const out = sink();
  const writer = new KanataWriter(out, 'gzip');
  for await (const { record } of new KanataReader(source).records()) { writer.write(record); await writer.drain(); }
  await writer.end();
  const bytes = Uint8Array.from(out.all);
  const again = [];
  for await (const { record } of new KanataReader(memorySource(bytes)).records()) again.push(record);
  return plain([bytes[0], bytes[1], again]);`;
const FLUX_WRITTEN = `
  const { FluxFile, FluxTag, FluxType, FluxWriter } = await load('uscope/formats/flux');
  const out = sink();
  const writer = new FluxWriter(out, { compress: 'lz4' });
  const trace = writer.trace({ traceId: 0, name: 'page' });
  trace.entry({ tag: FluxTag.SIGD, id: 1, parent: 0, name: 'pc', description: '', type: FluxType.INTEGER, descriptor: '' });
  trace.open(0, 'ps', 0n);
  for (let i = 1; i < 20000; i++) trace.integer(1, BigInt(10 * i), BigInt(i % 7));
  trace.close(0, 200000n);
  await writer.close();
  const entries = [];
  for await (const entry of new FluxFile(memorySource(Uint8Array.from(out.all))).entries()) entries.push(entry);
  return out.all.length + ' ' + entries.length + plain(entries.slice(-3));`;
const FTR_WRITTEN = `
  const { FtrFile, FtrWriter } = await load('uscope/formats/ftr');
  const out = sink();
  const writer = new FtrWriter(out);
  writer.stream(1n, 'bus', 'transactor');
  writer.generator(2n, 'read', 1n);
  for (let i = 0n; i < 500n; i++) writer.transaction({ id: i, stream: 1n, generator: 2n, start: i, end: i + 500n, attributes: [] });
  await writer.close();
  const chunks = [];
  for await (const chunk of (await FtrFile.open(memorySource(Uint8Array.from(out.all)))).records()) chunks.push(chunk);
  return out.all.length + plain(chunks);`;
const VCD_WRITTEN = `
  const { VcdWriter } = await load('uscope/formats/vcd');
  const out = sink();
  const writer = new VcdWriter(out, { timescale: '1ns', top: { name: 'top', variables: [], scopes: [] } });
  writer.moveTo(5n);
  await writer.end();
  return new TextDecoder().decode(Uint8Array.from(out.all));`;
const PERFETTO_WRITTEN = `
  const { PerfettoWriter } = await load('uscope/formats/perfetto');
  const out = sink();
  const writer = new PerfettoWriter(out);
  writer.process({ uuid: 1, name: 'core0' }, 1);
  await writer.finish();
  return plain(out.all);`;

const flux = (compress: 'none' | 'lz4' | 'zlib' | 'gzip') =>
  writtenFlux((file) => put(file.trace({ traceId: 0, name: 'all' }), everyEntry()), { compress });
const nothing = new Uint8Array(0);
const stf = vector('stf/every-record.stf');

describe.skipIf(!chromiumPath)('foreign formats in a page', () => {
  let browser: Browser;
  let server: PageServer;
  let page: Page;
  let errors: string[];

  beforeAll(async () => {
    server = await startPageServer();
    browser = await startChromium();
    page = await browser.newPage();
    errors = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    await page.goto(server.url);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const inPage = (program: string, file: Uint8Array): Promise<string> =>
    page.evaluate(
      `(async () => { const load = (name) => import(name); const file = Uint8Array.from(${JSON.stringify([...file])});
      ${PRELUDE} ${program} })()`,
    );

  it.each(NAMES)('%s has the same exports, and needs no Buffer', async (name) => {
    const program = `return plain([typeof Buffer, Object.keys(await load('uscope/formats/${name}')).sort()]);`;
    const expected = JSON.stringify([
      'undefined',
      Object.keys(await loadFromDist(`uscope/formats/${name}`)).sort(),
    ]);
    expect(await inPage(program, nothing)).toBe(expected);
  });

  it.each<[string, string, () => Uint8Array | Promise<Uint8Array>]>([
    ['STF', STF_RECORDS, () => stf],
    ['STF in gzip', STF_RECORDS, () => vector('stf/every-record.stf.gz')],
    ['STF in xz', STF_RECORDS, () => vector('stf/every-record.stf.xz')],
    ['STF in ZSTD, chunked', STF_RECORDS, () => vector('stf/every-record.zstf')],
    ['flux', FLUX_ENTRIES, () => flux('none')],
    ['flux in blocks of LZ4', FLUX_ENTRIES, () => flux('lz4')],
    ['flux in blocks of zlib', FLUX_ENTRIES, () => flux('zlib')],
    ['flux in blocks of gzip', FLUX_ENTRIES, () => flux('gzip')],
    ['flux in FastLZ inside LZ4', FLUX_ENTRIES, () => vector('flux/flz_in_lz4.flux')],
    ['ctrace', CTRACE_TEXT, () => vector('ctrace/all_nocomp.ctrace')],
    ['ctrace in ZSTD', CTRACE_TEXT, () => vector('ctrace/all_comp.ctrace')],
    ['FTR in LZ4', FTR_RECORDS, () => vector('ftr/everything_lz4.ftr')],
    ['gem5 in gzip', GEM5_INSTRUCTIONS, () => gzipSync(vector('gem5/window.out'))],
    ['Kanata', KONATA_RECORDS, () => vector('konata/two-threads.kanata')],
  ])('reads %s', async (_, program, sample) => {
    const file = await sample();
    const found = await inPage(program, file);
    expect(found.length).toBeGreaterThan(100);
    expect(found).toBe(await inNode(program, file));
  });

  it.skipIf(!zstdForTests)('reads STF in ZSTD', async () => {
    expect(await inPage(STF_RECORDS, zstdForTests!.compress(Buffer.from(stf)))).toBe(
      await inNode(STF_RECORDS, stf),
    );
  });

  it.each([
    ['flux in blocks of LZ4', FLUX_WRITTEN, nothing],
    ['FTR in LZ4', FTR_WRITTEN, nothing],
    ['Kanata in gzip', KONATA_WRITTEN, vector('konata/two-threads.kanata')],
    ['VCD', VCD_WRITTEN, nothing],
    ['Perfetto', PERFETTO_WRITTEN, nothing],
  ])('writes %s', async (_, program, file) => {
    const found = await inPage(program, file);
    expect(found.length).toBeGreaterThan(20);
    expect(found).toBe(await inNode(program, file));
  });

  it('yields what a cut gzip file holds before it says that it is cut', async () => {
    const packed = vector('stf/every-record.stf.gz');
    const cut = packed.subarray(0, Math.floor(packed.length * 0.7));
    const found = await inPage(STF_RECORDS, cut);
    expect(found).toMatch(/^[1-9]\d* records, CONVERT_TRUNCATED$/);
    expect(found).toBe(await inNode(STF_RECORDS, cut));
  });

  it('calls damage of gzip what it is', async () => {
    const packed = new Uint8Array(vector('stf/every-record.stf.gz'));
    packed[packed.length - 8] ^= 1;
    expect(await inPage(STF_RECORDS, packed)).toMatch(/ records, CONVERT_FORMAT$/);
  });

  it('reports no error', () => {
    expect(errors).toEqual([]);
  });
});
