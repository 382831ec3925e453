/** What an instruction is called in listings and pictures. */
import type { CpuCore } from './cores.js';
import type { Instruction } from './lifecycle.js';
import { disassemble, isUnknown } from './riscv/disassemble.js';

/** An annotation, as far as names need it. `kind`: as in `Annotation`. */
interface Note {
  readonly text: string;
  readonly kind?: number | null;
}

/** The kind of annotation that says what the instruction is (docs/reference/formats/konata.md). */
const NAME = 0;

/** Disassembly; of other instruction sets, without machine code, or of code that is not known, what the model annotated. */
export function instructionText(
  core: Pick<CpuCore, 'xlen'>,
  { pc, bits, annotations }: Pick<Instruction, 'pc' | 'bits'> & { annotations: readonly Note[] },
): string {
  if (core.xlen !== null && bits !== null && bits !== 0) {
    const text = disassemble(bits, { xlen: core.xlen, pc: pc ?? undefined });
    const names = isUnknown(text) ? annotations.filter(({ kind }) => kind === NAME) : [];
    return annotatedName(names) || text;
  }
  return annotatedName(annotations);
}

/** What the annotations call an instruction, without its address; '' where they do not say. */
export function annotatedName(annotations: readonly Note[]): string {
  if (annotations.length === 0) return '';
  const names = namesIn(annotations);
  for (const text of names) {
    const match = /^(?:0[xX])?[0-9a-fA-F]{4,16}:?\s+(\S.*)$/.exec(text.trim());
    if (match?.[1]) return oneLine(match[1]);
  }
  return oneLine(names[0] ?? '');
}

/** Where there are kinds, those of kind 0 are one name in parts, and the others are remarks. */
function namesIn(annotations: readonly Note[]): string[] {
  if (annotations.every(({ kind }) => kind == null)) return annotations.map(({ text }) => text);
  const [first] = annotations;
  if (annotations.length === 1 && first?.kind === NAME) return [withLineBreaks(first.text)];
  const parts = annotations.filter(({ kind }) => kind === NAME);
  return [withLineBreaks(parts.map(({ text }) => text).join(''))];
}

/** Texts of logs write the end of a line as `\n`. */
export const withLineBreaks = (text: string): string =>
  text.includes('\\n') ? text.replaceAll('\\n', '\n') : text;

// Text of a model may hold anything: control characters would break the columns, or drive the terminal.
function oneLine(text: string): string {
  // Nearly all are such: printable ASCII, words with one blank between them.
  if (/^[!-~]+(?: [!-~]+)*$/.test(text)) return text;
  return text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
}
