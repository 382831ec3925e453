/** Collects instructions into the arrays of a block. */
import type * as cpu from 'uscope/cpu';
import { NO_STAGE, NO_THREAD, NoteKind, type RowBlock, RowFlag, UNKNOWN } from '../model/blocks.js';

/** Turns times into cycles. */
export class Cycles {
  constructor(private readonly periodPs: bigint) {}

  of(timePs: bigint): number {
    return Number(timePs / this.periodPs);
  }
}

class Column {
  private values = new Float64Array(1024);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) {
      const larger = new Float64Array(this.length * 2);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }

  u8 = (): Uint8Array => Uint8Array.from(this.values.subarray(0, this.length));
  u16 = (): Uint16Array => Uint16Array.from(this.values.subarray(0, this.length));
  u32 = (): Uint32Array => Uint32Array.from(this.values.subarray(0, this.length));
  f64 = (): Float64Array => this.values.slice(0, this.length);
}

const columns = <K extends string>(...names: K[]): Record<K, Column> =>
  Object.fromEntries(names.map((name) => [name, new Column()])) as Record<K, Column>;

export class BlockBuilder {
  private readonly rows = columns('birth', 'end', 'flags', 'id', 'thread', 'code', 'stageStart');
  private readonly stages = columns('stage', 'cycle');
  private readonly dependencies = columns('row', 'producer', 'type', 'cycle');
  private readonly notes = columns('row', 'kind', 'cycle', 'text');
  private readonly stalls = columns('cycle', 'reason');
  private readonly statics = new Column();
  private readonly codes = new Map<string, number>();
  private readonly names: string[] = [];
  private readonly nameIndex = new Map<string, number>();

  constructor(
    readonly segment: number,
    private readonly baseCycle: number,
    private readonly cycles: Cycles,
  ) {}

  get count(): number {
    return this.rows.birth.length;
  }

  add(one: cpu.Instruction): void {
    const { rows, stages } = this;
    const row = this.count;
    const span = spanOf(one, this.cycles);
    rows.birth.push(span.birth === null ? 0 : this.relative(span.birth));
    rows.end.push(span.end === null ? UNKNOWN : this.relative(span.end));
    rows.flags.push(flagsOf(one));
    rows.id.push(one.id);
    rows.thread.push(one.thread ?? NO_THREAD);
    rows.code.push(this.codeOf(one));
    rows.stageStart.push(stages.stage.length);
    for (const { stage, timePs } of one.stages) {
      stages.stage.push(stage < 0 || stage >= NO_STAGE ? NO_STAGE : stage);
      stages.cycle.push(this.relative(this.cycles.of(timePs)));
    }
    for (const { timePs, seq, type } of one.dependencies) {
      this.dependencies.row.push(row);
      this.dependencies.producer.push(seq === null ? -1 : Number(seq));
      this.dependencies.type.push(this.name(type ?? ''));
      this.dependencies.cycle.push(this.relative(this.cycles.of(timePs)));
    }
    this.addNotes(row, one);
  }

  /** @param cycle of the trace */
  addStall(cycle: number, reason: string): void {
    this.stalls.cycle.push(this.relative(cycle));
    this.stalls.reason.push(this.name(reason));
  }

  build(firstRow: number): RowBlock {
    const { rows, stages, dependencies, notes, stalls } = this;
    const stageStart = rows.stageStart;
    stageStart.push(stages.stage.length);
    return {
      segment: this.segment,
      firstRow,
      count: this.count,
      baseCycle: this.baseCycle,
      birth: rows.birth.u32(),
      end: rows.end.u32(),
      flags: rows.flags.u8(),
      id: rows.id.u32(),
      thread: rows.thread.u8(),
      code: rows.code.u32(),
      statics: this.statics.u32(),
      stageStart: stageStart.u32(),
      stage: stages.stage.u8(),
      stageCycle: stages.cycle.u32(),
      dependencies: {
        row: dependencies.row.u32(),
        producer: dependencies.producer.f64(),
        type: dependencies.type.u16(),
        cycle: dependencies.cycle.u32(),
      },
      notes: {
        row: notes.row.u32(),
        kind: notes.kind.u8(),
        cycle: notes.cycle.u32(),
        text: notes.text.u32(),
      },
      stalls: { cycle: stalls.cycle.u32(), reason: stalls.reason.u16() },
      names: this.names,
    };
  }

  private addNotes(row: number, { flush, stalls, trap, annotations }: cpu.Instruction): void {
    if (flush) this.note(row, NoteKind.FLUSH, flush.timePs, flush.reason ?? '');
    for (const { timePs, reason } of stalls) this.note(row, NoteKind.STALL, timePs, reason);
    if (trap) this.note(row, NoteKind.TRAP, trap.timePs, trapText(trap));
    for (const { timePs, text } of annotations) this.note(row, NoteKind.ANNOTATION, timePs, text);
  }

  private note(row: number, kind: number, timePs: bigint, text: string): void {
    this.notes.row.push(row);
    this.notes.kind.push(kind);
    this.notes.cycle.push(this.relative(this.cycles.of(timePs)));
    this.notes.text.push(this.name(text));
  }

  /** What lies before the block (of an instruction already in flight) counts as its beginning. */
  private relative(cycle: number): number {
    return Math.max(0, Math.min(cycle - this.baseCycle, UNKNOWN - 1));
  }

  private codeOf({ pc, bits }: cpu.Instruction): number {
    const key = `${pc},${bits}`;
    let index = this.codes.get(key);
    if (index === undefined) {
      index = this.statics.length / 3;
      this.codes.set(key, index);
      this.statics.push(Number((pc ?? 0n) & 0xffff_ffffn));
      this.statics.push(Number((pc ?? 0n) >> 32n));
      this.statics.push(bits ?? 0);
    }
    return index;
  }

  private name(text: string): number {
    let index = this.nameIndex.get(text);
    if (index === undefined) {
      index = this.names.push(text) - 1;
      this.nameIndex.set(text, index);
    }
    return index;
  }
}

/** First cycle and the one behind the last; null: not known. As `uscope timeline` draws them. */
function spanOf(
  { birthPs, stages, flush, end, endPs }: cpu.Instruction,
  cycles: Cycles,
): { birth: number | null; end: number | null } {
  const birth = birthPs === null ? null : cycles.of(birthPs);
  const last = stages.at(-1);
  const over = flush?.timePs ?? endPs;
  if (over === null || over === undefined) return { birth, end: null };
  const at = cycles.of(over);
  // Some models clear in the very cycle in which the last stage is entered: it is shown for that cycle.
  const entered = last ? cycles.of(last.timePs) + 1 : at;
  return { birth, end: end === 'retired' ? Math.max(at, entered) : Math.max(at, birth ?? 0) };
}

function flagsOf({ end, pc, bits, birthPs, isAbridged, flush }: cpu.Instruction): number {
  const ends = {
    retired: RowFlag.RETIRED,
    squashed: RowFlag.SQUASHED,
    lost: RowFlag.LOST,
    in_flight: RowFlag.IN_FLIGHT,
  };
  return (
    ends[end] |
    (flush ? RowFlag.SQUASHED : 0) |
    (pc !== null ? RowFlag.HAS_PC : 0) |
    (bits !== null ? RowFlag.HAS_BITS : 0) |
    (birthPs === null ? RowFlag.BORN_BEFORE : 0) |
    (isAbridged ? RowFlag.ABRIDGED : 0)
  );
}

function trapText({ cause, tval, target }: cpu.Trap): string {
  const parts = [
    cause === null ? null : `cause ${cause}`,
    tval === null ? null : `tval 0x${tval.toString(16)}`,
    target === null ? null : `target 0x${target.toString(16)}`,
  ];
  return parts.filter((part) => part !== null).join(', ');
}
