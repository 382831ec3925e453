// @ts-check
/**
 * `npm run docs:format`: the worked example of docs/reference/format.md. A small trace is written, and every byte of it explained by the decoder that follows
 * the page. `--check` writes nothing and fails when the page has another example.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createCpuSummarizer, parseSchema, TraceWriter } from 'uscope';
import { decodeFile } from '../test/docs/format/file.mjs';
import { ROOT } from './step.mjs';

const PAGE = 'docs/reference/format.md';
const BEGIN = '<!-- example -->';
const END = '<!-- /example -->';
/** 2026-01-01, for the times in the session chunk. */
const NOW_MS = 1_767_225_600_000;
const BYTES_PER_ROW = 16;

const SCHEMA = `uscope: 1
clocks: {clk: 1 ns}
storages:
  rob: {slots: 4, kind: buffer, fields: {pc: u32, done: bool}}
  retired: counter
events:
  note: {text: string}
`;

/** The trace. @returns {Promise<Uint8Array>} */
export async function exampleTrace() {
  const folder = mkdtempSync(join(tmpdir(), 'uscope-example-'));
  const { now } = Date;
  Date.now = () => NOW_MS;
  try {
    const path = join(folder, 'example.uscope');
    const sessionId = Uint8Array.from({ length: 16 }, (_, i) => i + 1);
    const trace = await TraceWriter.create({
      summarizer: createCpuSummarizer,
      path,
      ...parseSchema(SCHEMA),
      compression: 'none',
      sessionId,
      maxDelayMs: 0,
    });
    trace.beginCycle(1000);
    trace.slotSet('rob', 2, 'pc', 0x8000_0004);
    trace.event('note', { text: 'hello' });
    trace.endCycle();
    trace.beginCycle(2000);
    trace.slotSet('rob', 2, 'done', true);
    trace.slotAdd('retired', 0, 'count', 1);
    trace.endCycle();
    await trace.close();
    return new Uint8Array(readFileSync(path));
  } finally {
    Date.now = now;
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @typedef {{ offset: number, size: number, meaning: string }} Piece */

/** What each byte means, in the order of the file. @param {Uint8Array} file @returns {Piece[]} */
function explain(file) {
  /** @type {Map<number, Piece>} */
  const pieces = new Map();
  decodeFile(file, { note: (offset, size, meaning) => pieces.set(offset, { offset, size, meaning }) });
  const sorted = [...pieces.values()].sort((a, b) => a.offset - b.offset);
  /** @type {Piece[]} */
  const whole = [];
  let at = 0;
  for (const piece of sorted) {
    if (piece.offset > at) whole.push({ offset: at, size: piece.offset - at, meaning: 'padding' });
    whole.push(piece);
    at = piece.offset + piece.size;
  }
  if (at !== file.length) throw new Error(`the bytes from ${at} to ${file.length} are not explained`);
  return whole;
}

/** Begins a row: a structure. */
const STRUCTURE =
  /^(chunk|frame|tag|segment|commit record|section|summary|checkpoint of|DUT properties|layout|strings|version_major)\b|name "/;
/** Goes without saying. */
const SILENT = /^(reserved|flags|enum|role|pair|padding): 0$|^(reserved|padding)$/;

/** Pieces of one row of the dump. @param {Piece[]} pieces @returns {Piece[][]} */
function toRows(pieces) {
  /** @type {Piece[][]} */
  const rows = [];
  let room = 0;
  for (const piece of pieces) {
    if (piece.size > room || STRUCTURE.test(piece.meaning)) {
      rows.push([]);
      room = BYTES_PER_ROW;
    }
    rows[rows.length - 1].push(piece);
    room -= piece.size;
  }
  return rows;
}

/** Lines of one row: more than one where it has many bytes. @param {Uint8Array} file @param {Piece[]} row */
function toLines(file, row) {
  const start = row[0].offset;
  const size = row.reduce((sum, piece) => sum + piece.size, 0);
  const said = row.map(({ meaning }) => meaning).filter((meaning) => !SILENT.test(meaning));
  const lines = [];
  for (let at = start; at < start + size; at += BYTES_PER_ROW) {
    const bytes = file.subarray(at, Math.min(at + BYTES_PER_ROW, start + size));
    const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const meaning = at === start ? said.join(', ') || row[0].meaning : '';
    lines.push(`${at.toString(16).padStart(4, '0')}  ${hex.padEnd(3 * BYTES_PER_ROW)} ${meaning}`.trimEnd());
  }
  return lines;
}

/** The section of the page, between its marks. */
export async function exampleText() {
  const file = await exampleTrace();
  const dump = toRows(explain(file)).flatMap((row) => toLines(file, row));
  return `${BEGIN}
Its schema:

\`\`\`yaml
${SCHEMA.trimEnd()}
\`\`\`

At 1000 ps it sets field \`pc\` of slot 2 of \`rob\` and records an event; at 2000 ps it sets \`done\` and adds 1 to the counter. The file has ${file.length} bytes.
Offsets and bytes are hexadecimal; reserved zeros are not explained.

\`\`\`text
${dump.join('\n')}
\`\`\`
${END}`;
}

/** @param {string} page @param {string} example */
export function withExample(page, example) {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`${PAGE} has no place for the example`);
  return page.slice(0, begin) + example + page.slice(end + END.length);
}

/** @returns {Promise<number>} exit status */
async function main() {
  const page = readFileSync(join(ROOT, PAGE), 'utf8');
  const current = withExample(page, await exampleText());
  if (!process.argv.includes('--check')) writeFileSync(join(ROOT, PAGE), current);
  else if (page !== current) {
    console.error(`the example of ${PAGE} is not what the writer writes: run npm run docs:format`);
    return 1;
  }
  return 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.exitCode = await main();
