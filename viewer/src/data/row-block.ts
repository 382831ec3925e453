/** Blocks of the SDK as the picture needs them: in cycles, with the stages of each row one after the other, and with texts instead of numbers. */
import * as cpu from 'uscope/cpu';
import { NO_STAGE, NO_THREAD, NOWHERE, NoteKind, type RowBlock, RowFlag, UNKNOWN } from '../model/blocks.js';
import type { Trace } from './library.js';

/** A stall of the core. */
export interface Stall {
  readonly timePs: bigint;
  readonly reason: string;
}

/**
 * @param firstRow what the caller counted; -1: what the block says
 * @param periodPs of the core's clock
 * @param startPs of the segment
 */
export async function toRowBlock(
  trace: Trace,
  core: cpu.CpuCore,
  block: cpu.InstructionBlock,
  stalls: readonly Stall[],
  firstRow: number,
  periodPs: bigint,
  startPs: bigint,
): Promise<RowBlock> {
  const clock = new BlockClock(block, periodPs, startPs);
  const names = new Names();
  await trace.strings.load(block.annotations.string);
  const first = firstRow >= 0 ? firstRow : block.firstRow;
  return {
    segment: block.segment,
    firstRow: first,
    count: block.count,
    baseCycle: clock.base,
    ...rowsOf(block, clock),
    code: Uint32Array.from(block.statics),
    statics: staticsOf(block),
    ...stagesOf(block, clock),
    dependencies: dependenciesOf(core, block, clock, names, first),
    notes: notesOf(trace, core, block, clock, names),
    stalls: {
      cycle: Uint32Array.from(stalls, ({ timePs }) => clock.ofPs(timePs)),
      reason: Uint16Array.from(stalls, ({ reason }) => names.of(reason)),
    },
    names: names.all,
  };
}

/** Cycles since the beginning of the segment, or of the first thing known of an instruction, whichever is earlier. */
class BlockClock {
  readonly base: number;
  private readonly scale: number;
  private readonly offset: number;

  constructor(
    { basePs, tickPs, count }: cpu.InstructionBlock,
    private readonly periodPs: bigint,
    startPs: bigint,
  ) {
    const from = count > 0 && basePs < startPs ? basePs : startPs;
    this.base = Number(from / periodPs);
    // From here on numbers are small enough to be exact.
    this.offset = Number(basePs - BigInt(this.base) * periodPs) / Number(periodPs);
    this.scale = tickPs / Number(periodPs);
  }

  readonly ofTick = (tick: number): number => Math.floor(this.offset + tick * this.scale);
  ofPs(timePs: bigint): number {
    return Math.max(0, Number(timePs / this.periodPs) - this.base);
  }
}

/** Distinct texts. */
class Names {
  readonly all: string[] = [];
  private readonly index = new Map<string, number>();

  of(text: string): number {
    let index = this.index.get(text);
    if (index === undefined) {
      index = this.all.push(text) - 1;
      this.index.set(text, index);
    }
    return index;
  }
}

const FLAG_OF_END = {
  [cpu.BlockEnd.RETIRED]: RowFlag.RETIRED,
  [cpu.BlockEnd.SQUASHED]: RowFlag.SQUASHED,
  [cpu.BlockEnd.LOST]: RowFlag.LOST,
  [cpu.BlockEnd.IN_FLIGHT]: RowFlag.IN_FLIGHT,
};

function rowsOf(
  block: cpu.InstructionBlock,
  clock: BlockClock,
): Pick<RowBlock, 'birth' | 'end' | 'flags' | 'id' | 'thread'> {
  const { count } = block;
  const columns = {
    birth: new Uint32Array(count),
    end: new Uint32Array(count),
    flags: new Uint8Array(count),
    id: Uint32Array.from(block.id),
    thread: new Uint8Array(count).fill(NO_THREAD),
  };
  const flushTick = new Map<number, number>();
  block.flushes.row.forEach((row, index) => {
    flushTick.set(row, cpu.sideTick(block, block.flushes, index));
  });
  for (let row = 0; row < count; row++) {
    columns.flags[row] = flagsOf(block, row);
    const birth = cpu.birthTick(block, row);
    columns.birth[row] = birth < 0 ? 0 : clock.ofTick(birth);
    columns.end[row] = endOf(block, row, clock, flushTick.get(row));
    if (block.flags[row]! & cpu.BlockFlag.HAS_THREAD) columns.thread[row] = block.thread?.[row] ?? NO_THREAD;
  }
  return columns;
}

function flagsOf(block: cpu.InstructionBlock, row: number): number {
  const flags = block.flags[row]!;
  const end = cpu.endOf(block, row);
  const isUnknown = end === cpu.BlockEnd.IN_FLIGHT && !block.reachesEnd;
  const known = block.staticTable.known[block.statics[row]!]!;
  return (
    (isUnknown ? 0 : FLAG_OF_END[end]) |
    (flags & cpu.BlockFlag.FLUSHED ? RowFlag.SQUASHED : 0) |
    (flags & cpu.BlockFlag.BIRTH_UNKNOWN ? RowFlag.BORN_BEFORE : 0) |
    (flags & cpu.BlockFlag.ABRIDGED ? RowFlag.ABRIDGED : 0) |
    (known & cpu.Known.PC ? RowFlag.HAS_PC : 0) |
    (known & cpu.Known.BITS ? RowFlag.HAS_BITS : 0)
  );
}

/** After its last cycle, as `uscope timeline` draws it: at the flush, or at the end. */
function endOf(
  block: cpu.InstructionBlock,
  row: number,
  clock: BlockClock,
  flushed: number | undefined,
): number {
  const over = flushed ?? cpu.endTick(block, row);
  if (over < 0) return UNKNOWN;
  const end = clock.ofTick(over);
  const stages = cpu.stageCount(block, row);
  const isRetired = cpu.endOf(block, row) === cpu.BlockEnd.RETIRED;
  if (!isRetired || stages === 0 || cpu.stageOf(block, row, stages - 1) === cpu.NO_STAGE) return end;
  // Some models clear in the very cycle in which the last stage is entered: it is shown for that cycle.
  return Math.max(end, clock.ofTick(cpu.stageTick(block, row, stages - 1)) + 1);
}

function staticsOf({ staticTable: { pcLo, pcHi, bits } }: cpu.InstructionBlock): Uint32Array {
  const statics = new Uint32Array(pcLo.length * 3);
  for (let index = 0; index < pcLo.length; index++) {
    statics[index * 3] = pcLo[index]!;
    statics[index * 3 + 1] = pcHi[index]!;
    statics[index * 3 + 2] = bits[index]!;
  }
  return statics;
}

function stagesOf(
  block: cpu.InstructionBlock,
  clock: BlockClock,
): Pick<RowBlock, 'stageStart' | 'stage' | 'stageCycle'> {
  const { stageStart, count, path, pathStart, pathStages } = block;
  const stage = new Uint8Array(block.stageTicks.length);
  const stageCycle = new Uint32Array(block.stageTicks.length);
  for (let row = 0; row < count; row++) {
    let tick = cpu.stagesBegin(block, row);
    const stages = pathStart[path[row]!]! - stageStart[row]!;
    for (let at = stageStart[row]!; at < stageStart[row + 1]!; at++) {
      tick += cpu.stayTicks(block, at);
      const index = pathStages[stages + at]!;
      const isStage = index >= 0 && index < NOWHERE;
      stage[at] = isStage ? index : index === cpu.NO_STAGE ? NOWHERE : NO_STAGE;
      stageCycle[at] = clock.ofTick(tick);
    }
  }
  return { stageStart: stageStart.slice(), stage, stageCycle };
}

function dependenciesOf(
  core: cpu.CpuCore,
  block: cpu.InstructionBlock,
  clock: BlockClock,
  names: Names,
  firstRow: number,
): RowBlock['dependencies'] {
  const { dependencies } = block;
  const { producer, type } = dependencies;
  const row = Uint32Array.from(dependencies.row);
  const label = labelsOf(core, 'dependency', 'dep_type');
  return {
    row,
    producer: Float64Array.from(producer, (one) => (one === cpu.NO_PRODUCER ? -1 : firstRow + one)),
    type: Uint16Array.from(row, (_, index) => names.of(type === null ? '' : label(type[index]!))),
    cycle: row.map((_, index) => clock.ofTick(cpu.sideTick(block, dependencies, index))),
  };
}

interface Note {
  readonly row: number;
  readonly kind: number;
  readonly cycle: number;
  readonly text: number;
}

function notesOf(
  trace: Trace,
  core: cpu.CpuCore,
  block: cpu.InstructionBlock,
  clock: BlockClock,
  names: Names,
): RowBlock['notes'] {
  const notes: Note[] = [];
  const add = (
    kindOf: number | ((index: number) => number),
    side: cpu.SideColumns,
    textOf: (index: number) => string,
  ): void => {
    side.row.forEach((row, index) => {
      const cycle = clock.ofTick(cpu.sideTick(block, side, index));
      const kind = typeof kindOf === 'number' ? kindOf : kindOf(index);
      notes.push({ row, kind, cycle, text: names.of(textOf(index)) });
    });
  };
  const { flushes, stalls, traps, annotations } = block;
  const [flushLabel, stallLabel] = [labelsOf(core, 'flush', 'reason'), labelsOf(core, 'stall', 'reason')];
  add(NoteKind.FLUSH, flushes, (index) =>
    flushes.reason === null ? '' : flushLabel(flushes.reason[index]!),
  );
  add(NoteKind.STALL, stalls, (index) => (stalls.reason === null ? '' : stallLabel(stalls.reason[index]!)));
  add(NoteKind.TRAP, traps, (index) => trapText(traps, index));
  const annotationKind = (index: number): number =>
    annotations.kind?.[index] === 0 ? NoteKind.NAME : NoteKind.ANNOTATION;
  add(annotationKind, annotations, (index) => {
    const string = annotations.string[index]!;
    return trace.strings.peek(string) ?? `#${string}`;
  });
  // Stable: within a row each kind stays in the order of time.
  notes.sort((a, b) => a.row - b.row);
  return {
    row: Uint32Array.from(notes, ({ row }) => row),
    kind: Uint8Array.from(notes, ({ kind }) => kind),
    cycle: Uint32Array.from(notes, ({ cycle }) => cycle),
    text: Uint32Array.from(notes, ({ text }) => text),
  };
}

/** Label of a value of an event's field; the number where it has none. */
function labelsOf(core: cpu.CpuCore, event: cpu.CoreEventName, field: string): (value: number) => string {
  const labels = core.events.get(event)?.fields.get(field)?.labels;
  const names = new Map<number, string>();
  for (const { value, name } of labels?.values ?? []) if (!names.has(value)) names.set(value, name);
  return (value) => names.get(value) ?? String(value);
}

function trapText({ known, words }: cpu.Traps, index: number): string {
  const value = (part: number): bigint =>
    (BigInt(words[index * 6 + part * 2 + 1]!) << 32n) | BigInt(words[index * 6 + part * 2]!);
  const parts = [
    known[index]! & 1 ? `cause ${value(0)}` : null,
    known[index]! & 2 ? `tval 0x${value(1).toString(16)}` : null,
    known[index]! & 4 ? `target 0x${value(2).toString(16)}` : null,
  ];
  return parts.filter((part) => part !== null).join(', ');
}
