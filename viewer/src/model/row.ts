/** One instruction of a block, for labels, boxes and the card: what `uscope timeline` says of it. */
import { lowerBound, NO_THREAD, NOWHERE, NoteKind, type RowBlock, RowFlag, UNKNOWN } from './blocks.js';

export interface StageSpan {
  /** Index of the stage; `NO_STAGE` for a value that is none. */
  readonly stage: number;
  readonly from: number;
  /** Exclusive; null: not left by the end of the trace. */
  readonly to: number | null;
}

export interface RowDetails {
  readonly row: number;
  readonly id: number;
  /** `0x…`; null where the trace has none. */
  readonly pc: string | null;
  readonly bits: number | null;
  readonly thread: number | null;
  readonly text: string;
  readonly born: number | null;
  readonly end: 'retired' | 'squashed' | 'in flight' | 'lost' | 'not followed further';
  readonly endCycle: number | null;
  readonly flush: { readonly cycle: number; readonly reason: string } | null;
  readonly trap: { readonly cycle: number; readonly text: string } | null;
  readonly stages: readonly StageSpan[];
  /** Stalls of the core while it was in flight: cycles with each reason. */
  readonly stalls: readonly { readonly reason: string; readonly cycles: number }[];
  /** Stalls that name it. */
  readonly ownStalls: readonly { readonly cycle: number; readonly text: string }[];
  readonly dependencies: readonly Dependency[];
  readonly annotations: readonly { readonly cycle: number; readonly text: string }[];
  readonly isAbridged: boolean;
}

interface Dependency {
  /** Row of the producer; null: not known. */
  readonly producer: number | null;
  readonly type: string;
  readonly cycle: number;
}

export function stageSpans(block: RowBlock, index: number): StageSpan[] {
  const { baseCycle, stage, stageCycle, stageStart, end } = block;
  const last = stageStart[index + 1]!;
  const spans: StageSpan[] = [];
  for (let i = stageStart[index]!; i < last; i++) {
    if (stage[i] === NOWHERE) continue;
    const over = end[index] === UNKNOWN ? null : end[index]! + baseCycle;
    const to = i + 1 < last ? stageCycle[i + 1]! + baseCycle : over;
    spans.push({ stage: stage[i]!, from: stageCycle[i]! + baseCycle, to });
  }
  return spans;
}

export function pcOf(block: RowBlock, index: number): string | null {
  if (!(block.flags[index]! & RowFlag.HAS_PC)) return null;
  const at = block.code[index]! * 3;
  const [low, high] = [block.statics[at]!, block.statics[at + 1]!];
  const digits =
    high === 0 ? low.toString(16).padStart(8, '0') : high.toString(16) + low.toString(16).padStart(8, '0');
  return digits;
}

export function bitsOf(block: RowBlock, index: number): number | null {
  return block.flags[index]! & RowFlag.HAS_BITS ? block.statics[block.code[index]! * 3 + 2]! : null;
}

/** The notes of a row of one kind. */
export function notesOf(
  { baseCycle, notes, names }: RowBlock,
  index: number,
  kind: number,
): { cycle: number; text: string }[] {
  const found: { cycle: number; text: string }[] = [];
  for (let i = lowerBound(notes.row, index); i < notes.row.length && notes.row[i] === index; i++) {
    if (notes.kind[i] === kind)
      found.push({ cycle: notes.cycle[i]! + baseCycle, text: names[notes.text[i]!]! });
  }
  return found;
}

export function dependenciesOf({ baseCycle, dependencies, names }: RowBlock, index: number): Dependency[] {
  const { row, producer, type, cycle } = dependencies;
  const found: Dependency[] = [];
  for (let i = lowerBound(row, index); i < row.length && row[i] === index; i++) {
    const on = producer[i]!;
    found.push({ producer: on < 0 ? null : on, type: names[type[i]!]!, cycle: cycle[i]! + baseCycle });
  }
  return found;
}

/** @param text the instruction's disassembly */
export function detailsOf(block: RowBlock, index: number, text: string): RowDetails {
  const { baseCycle, birth, end, flags, id, thread } = block;
  const flag = flags[index]!;
  const born = flag & RowFlag.BORN_BEFORE ? null : birth[index]! + baseCycle;
  const endCycle = end[index] === UNKNOWN ? null : end[index]! + baseCycle;
  const pc = pcOf(block, index);
  const [flush = null] = notesOf(block, index, NoteKind.FLUSH);
  const [trap = null] = notesOf(block, index, NoteKind.TRAP);
  return {
    row: block.firstRow + index,
    id: id[index]!,
    pc: pc === null ? null : `0x${pc}`,
    bits: bitsOf(block, index),
    thread: thread[index] === NO_THREAD ? null : thread[index]!,
    text,
    born,
    end: endName(flag),
    endCycle,
    flush: flush && { cycle: flush.cycle, reason: flush.text },
    trap,
    stages: stageSpans(block, index),
    stalls: stallsDuring(block, index),
    ownStalls: notesOf(block, index, NoteKind.STALL),
    dependencies: dependenciesOf(block, index),
    annotations: [...notesOf(block, index, NoteKind.NAME), ...notesOf(block, index, NoteKind.ANNOTATION)],
    isAbridged: (flag & RowFlag.ABRIDGED) !== 0,
  };
}

function endName(flags: number): RowDetails['end'] {
  if (flags & RowFlag.SQUASHED) return 'squashed';
  if (flags & RowFlag.RETIRED) return 'retired';
  if (flags & RowFlag.LOST) return 'lost';
  return flags & RowFlag.IN_FLIGHT ? 'in flight' : 'not followed further';
}

function stallsDuring(block: RowBlock, index: number): { reason: string; cycles: number }[] {
  const { stalls, names, birth, end } = block;
  const from = birth[index]!;
  const to = end[index]!;
  const counts = new Map<string, number>();
  const last = new Map<string, number>();
  for (let i = lowerBound(stalls.cycle, from); i < stalls.cycle.length && stalls.cycle[i]! < to; i++) {
    const reason = names[stalls.reason[i]!]!;
    if (last.get(reason) === stalls.cycle[i]) continue;
    last.set(reason, stalls.cycle[i]!);
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].map(([reason, cycles]) => ({ reason, cycles })).sort((a, b) => b.cycles - a.cycles);
}
