/** The program that ran: names of functions from its ELF file, and lines of source, which the server is asked for. */
import { effect, signal } from '@preact/signals';
import { ElfSymbols } from 'uscope/program';
import type { Place } from '../model/profile.js';
import { adviceFor } from './advice.js';
import { addProblem } from './problems.js';
import { wantedSources } from './store.js';
import { currentEngine } from './threads/current-engine.js';

interface SourceLine {
  readonly file: string;
  readonly line: number;
  /** Of the source; null: the file is not at hand. */
  readonly text: string | null;
}

const MAX_ADDRESSES = 512;
const MAX_KNOWN = 200_000;

const addressOf = (name: string): string | null => {
  const found = document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content;
  return found === undefined ? null : new URL(found, document.baseURI).href;
};
const elf = addressOf('uscope-elf');
const linesUrl = addressOf('uscope-lines');

/** null: no program was given, or it is not read yet. */
export const symbols = signal<ElfSymbols | null>(null);
export const hasProgram = elf !== null;
/** Which lines are known: another number when there are more. */
export const linesVersion = signal(0);
/** The tool that reads lines is missing. */
export const lacksTool = signal(false);

const lines = new Map<string, SourceLine | null>();
export const isReadingLines = signal(false);
let waiting = new Set<string>();

const keyOf = (pc: bigint): string => pc.toString(16);

export function placeOf(pc: bigint): Place {
  const line = lines.get(keyOf(pc));
  return {
    function: symbols.value?.find(pc)?.name ?? null,
    line: line ? `${line.file}:${line.line}` : null,
  };
}

/** Function and distance from its beginning; null: not known. */
export function functionText(pc: bigint): string | null {
  const found = symbols.value?.find(pc);
  if (!found) return null;
  const offset = pc - found.from;
  return offset === 0n ? found.name : `${found.name}+0x${offset.toString(16)}`;
}

/** What the search finds all instructions of a function with, also those that never retire; null: there is none of that name. */
export function functionPattern(name: string): string | null {
  const ranges = symbols.value?.functions.filter((one) => one.name === name) ?? [];
  const texts = ranges.map(({ from, to }) => `0x${from.toString(16)}-0x${(to - 1n).toString(16)}`);
  return texts.length === 0 ? null : `pc:${texts.join(',')}`;
}

/** null: not known yet, or not at all. It is asked for. */
export function lineOf(pc: bigint): SourceLine | null {
  const key = keyOf(pc);
  const known = lines.get(key);
  if (known !== undefined) return known;
  wantLines([pc]);
  return null;
}

/** Asks for those that are not known. */
export function wantLines(pcs: Iterable<bigint>): void {
  if (linesUrl === null || lacksTool.peek()) return;
  for (const pc of pcs) {
    const key = keyOf(pc);
    if (!lines.has(key)) waiting.add(key);
  }
  if (!isReadingLines.peek() && waiting.size > 0) queueMicrotask(() => void askLines());
}

async function askLines(): Promise<void> {
  if (isReadingLines.peek()) return;
  isReadingLines.value = true;
  try {
    while (waiting.size > 0) {
      const asked = [...waiting].slice(0, MAX_ADDRESSES);
      waiting = new Set([...waiting].slice(MAX_ADDRESSES));
      const answer = await fetch(`${linesUrl}?pcs=${asked.join(',')}`);
      if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
      const found = (await answer.json()) as { tool: string | null; lines: (SourceLine | null)[] };
      lacksTool.value = found.tool === null;
      if (lines.size > MAX_KNOWN) lines.clear();
      asked.forEach((key, index) => {
        lines.set(key, found.lines[index] ?? null);
      });
      linesVersion.value++;
      label(asked);
    }
  } catch {
    // Lines are left out; a server that is gone is reported by the reader.
    waiting = new Set();
  } finally {
    isReadingLines.value = false;
  }
}

/** What is written beside an instruction. */
function noteOf(key: string): string {
  const pc = BigInt(`0x${key}`);
  const { function: name, line } = placeOf(pc);
  return [line, name].filter((part) => part !== null).join('  ');
}

function label(keys: readonly string[]): void {
  const texts = keys.map((key) => [key, noteOf(key)] as const);
  currentEngine()?.post({ type: 'sources', texts });
}

async function read(url: string): Promise<void> {
  try {
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
    symbols.value = ElfSymbols.parse(new Uint8Array(await answer.arrayBuffer()));
  } catch (error) {
    const { code = 'READER_OPEN', message } = error as Error & { code?: string };
    addProblem({ code, what: `the program: ${message}`, advice: adviceFor(code), isFatal: false });
  }
}

if (elf !== null)
  void read(elf).then(() => {
    // Rows are drawn again with what is known now, and say which addresses they show.
    effect(() => {
      const wanted = wantedSources.value;
      if (wanted.length === 0) currentEngine()?.post({ type: 'sources', texts: [] });
      label(wanted);
      wantLines(wanted.map((key) => BigInt(`0x${key}`)));
    });
  });
