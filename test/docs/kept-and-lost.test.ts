/** The tables "Kept and lost" of docs/reference/formats: what they say is what a conversion there and back does. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canCompressZstd } from '../../sdk/src/codecs/zstd.js';
import { type ForeignFormat, formatNamed } from '../../sdk/src/formats/index.js';
import { memorySource } from '../../sdk/src/reader/index.js';
import { openTraceFile } from '../../sdk/src/reader/node.js';
import { contextOf, MemoryFiles } from '../support/foreign.js';
import { MARKED_FILES } from '../support/kept-files.js';
import {
  fileText,
  has,
  MARKS,
  markedTrace,
  protobufText,
  traceText,
  vcdText,
} from '../support/kept-fixture.js';
import { lacks } from '../support/needs.js';

/** Formats whose text is searched as it is. */
const TEXT_FORMATS: readonly string[] = ['konata', 'gem5', 'spike', 'qemu'];
/** The page of each format: two logs share one. */
const PAGES: Readonly<Record<string, string>> = { spike: 'logs', qemu: 'logs' };
const TITLES: Readonly<Record<string, string>> = {
  konata: 'of a Kanata log',
  gem5: 'of a log of gem5',
  spike: 'of a log of Spike',
  qemu: 'of a log of QEMU',
  vcd: 'of a waveform',
  ftr: 'of an FTR file',
  flux: 'of a flux file',
  ctrace: 'of a .ctrace file',
  stf: 'of an STF file',
};
const WRITTEN = ['konata', 'ftr', 'flux', 'ctrace', 'stf', 'perfetto', 'vcd'];

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-kept-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Rows of the table whose first column has this title: what, and whether it is kept. */
function tableOf(name: string, title: string): [what: string, isKept: boolean][] {
  const path = new URL(`../../docs/reference/formats/${PAGES[name] ?? name}.md`, import.meta.url);
  const lines = readFileSync(path, 'utf8').split('\n');
  const head = lines.findIndex((line) => line.startsWith(`| ${title} |`));
  expect(head, `a table "| ${title} |" of ${name}`).toBeGreaterThan(0);
  const rest = lines.slice(head + 2);
  const rows = rest.slice(
    0,
    rest.findIndex((line) => !line.startsWith('|')),
  );
  return rows.map((row) => {
    const [, what, fate] = row.split('|').map((cell) => cell.trim());
    expect(['kept', 'lost']).toContain(fate);
    return [what, fate === 'kept'];
  });
}

const sorted = (rows: readonly [string, boolean][]) => rows.toSorted(([a], [b]) => (a < b ? -1 : 1));

async function open(format: ForeignFormat, bytes: Uint8Array, options: Record<string, string> = {}) {
  return format.open!(memorySource(bytes, 'file'), contextOf(options).options);
}

async function imported(format: ForeignFormat, bytes: Uint8Array, options: Record<string, string> = {}) {
  const path = join(directory, `${format.name}.uscope`);
  rmSync(path, { force: true });
  await (await open(format, bytes, options)).toUscope({ path }, contextOf(options));
  return path;
}

async function exported(format: ForeignFormat, path: string): Promise<Uint8Array> {
  const trace = await openTraceFile(path);
  const files = new MemoryFiles();
  await format.write!(trace, files, format.extensions[0], contextOf());
  await trace.close();
  return files.bytes();
}

async function textOfTrace(path: string): Promise<string> {
  const trace = await openTraceFile(path);
  const text = await traceText(trace);
  await trace.close();
  return text;
}

async function textOfFile(format: ForeignFormat, bytes: Uint8Array): Promise<string> {
  const { name } = format;
  if (name === 'vcd') return vcdText(new TextDecoder().decode(bytes));
  if (TEXT_FORMATS.includes(name)) return new TextDecoder().decode(bytes);
  return fileText(await open(format, bytes));
}

describe('of a µScope trace', () => {
  it.each(WRITTEN)('%s', async (name) => {
    const format = await formatNamed(name);
    const path = join(directory, 'marked.uscope');
    rmSync(path, { force: true });
    await markedTrace(path);
    const before = await textOfTrace(path);
    for (const [what, mark] of Object.entries(MARKS)) expect([what, has(before, mark)]).toEqual([what, true]);
    const bytes = await exported(format, path);
    const seen =
      name === 'perfetto'
        ? protobufText(bytes)
        : name === 'vcd'
          ? await textOfFile(format, bytes)
          : await textOfTrace(await imported(format, bytes));
    const found = Object.entries(MARKS).map(([what, mark]): [string, boolean] => [what, has(seen, mark)]);
    expect(sorted(tableOf(name, 'of a µScope trace'))).toEqual(sorted(found));
  });
});

describe('of a file, there and back', () => {
  it.each(Object.entries(MARKED_FILES))('%s', async (name, { bytes: made, marks, map, needsZstd }) => {
    if (needsZstd && lacks('zstd-napi', canCompressZstd())) return;
    const format = await formatNamed(name);
    const bytes = await made;
    const options: Record<string, string> = {};
    if (map) {
      options.map = join(directory, 'map.yaml');
      writeFileSync(options.map, map);
    }
    const before = await textOfFile(format, bytes);
    for (const [what, mark] of Object.entries(marks)) expect([what, has(before, mark)]).toEqual([what, true]);
    const path = await imported(format, bytes, options);
    // A waveform that is made of a trace is another one: there, as in formats that are not written, the trace is searched.
    const isBack = format.write !== undefined && name !== 'vcd';
    const seen = isBack ? await textOfFile(format, await exported(format, path)) : await textOfTrace(path);
    const found = Object.entries(marks).map(([what, mark]): [string, boolean] => [what, has(seen, mark)]);
    expect(sorted(tableOf(name, TITLES[name]))).toEqual(sorted(found));
  });
});
