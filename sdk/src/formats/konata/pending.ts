/**
 * Commands that wait until their frame is over and their strings are there, in arrays of columns: an object for each of millions would be most of
 * the work. What a command says of an instruction is looked up when it is written.
 */
import type { Xlen } from '../../semantics/cpu/riscv/encodings.js';
import { bitsText, pcText } from '../pipeline/core-fields.js';
import { LabelKind } from './line.js';
import { RetireType } from './reader.js';
import type { LineWriter } from './writer.js';

/** What an export knows of an instruction while it is in flight. */
export interface Flying {
  id: number;
  readonly slot: number;
  entity: number;
  pc: bigint | null;
  bits: number | null;
  gid: number | bigint | null;
  tid: number;
  stage: string | null;
  isFlushed: boolean;
  /** Number and type that a `retire` event gave. */
  rid: bigint | null;
  retireType: number | null;
  /** Its address has been shown, so that annotations need not. */
  showsPc: boolean;
  showsBits: boolean;
  /** Number of the frame in which it began; -1: its id is not known yet. */
  bornIn: number;
}

export function newFlying(slot: number): Flying {
  return {
    id: -1,
    slot,
    entity: slot,
    pc: null,
    bits: null,
    gid: null,
    tid: 0,
    stage: null,
    isFlushed: false,
    rid: null,
    retireType: null,
    showsPc: false,
    showsBits: false,
    bornIn: -1,
  };
}

const Command = {
  TIME: 0,
  BEGIN: 1,
  CODE: 2,
  START: 3,
  END: 4,
  LABEL: 5,
  ANNOTATION: 6,
  DEPENDENCY: 7,
  LATE_DEPENDENCY: 8,
  RETIRE: 9,
} as const;
type Command = (typeof Command)[keyof typeof Command];

/** Text, or the number of a string of the trace. */
type Text = string | number;

export interface PendingTarget {
  readonly lines: LineWriter;
  readonly xlen: Xlen | null;
  /** Of a string of the trace. */
  text(index: number): string;
  /** What follows happens in this cycle. */
  advanceTo(cycle: bigint): void;
}

export class PendingCommands {
  /** Strings that the commands need. */
  readonly strings = new Set<number>();
  private times = 0;
  /** Commands; what the columns have after them is left from before. */
  private count = 0;
  private readonly commands: Command[] = [];
  private readonly subjects: (Flying | null)[] = [];
  private readonly numbers: number[] = [];
  private readonly others: (Text | bigint | Flying | readonly [number, number] | null)[] = [];

  /** Commands about instructions. */
  get length(): number {
    return this.count - this.times;
  }

  /** What follows happens in this cycle. */
  time(cycle: bigint): void {
    this.times++;
    this.add(Command.TIME, null, 0, cycle);
  }

  begin(flying: Flying): void {
    this.add(Command.BEGIN, flying, 0, null);
  }

  /** What is next to an instruction: as much as its first frame said of it. */
  code(flying: Flying): void {
    this.add(Command.CODE, flying, 0, null);
  }

  stage(isStart: boolean, flying: Flying, lane: number, stage: Text): void {
    this.add(isStart ? Command.START : Command.END, flying, lane, this.wanted(stage));
  }

  label(flying: Flying, type: number, text: Text): void {
    this.add(Command.LABEL, flying, type, this.wanted(text));
  }

  /** An annotation without kind. */
  annotation(flying: Flying, text: Text): void {
    this.add(Command.ANNOTATION, flying, 0, this.wanted(text));
  }

  dependency(consumer: Flying, producer: Flying, type: number): void {
    this.add(Command.DEPENDENCY, consumer, type, producer);
  }

  /** With the numbers that the log had. */
  lateDependency(consumer: number, producer: number, type: number): void {
    this.add(Command.LATE_DEPENDENCY, null, type, [consumer, producer]);
  }

  /** @param running number of those that have ended before */
  retire(flying: Flying, running: number): void {
    this.add(Command.RETIRE, flying, running, null);
  }

  /** All of them; then there are none. */
  writeTo(target: PendingTarget): void {
    const { commands } = this;
    let due: bigint | null = null;
    for (let at = 0; at < this.count; at++) {
      if (commands[at] === Command.TIME) {
        due = this.others[at] as bigint;
        continue;
      }
      if (commands[at] === Command.CODE && !hasCode(this.subjects[at] as Flying)) continue;
      if (due !== null) target.advanceTo(due);
      due = null;
      this.write(at, target);
    }
    this.clear();
    // What follows may still be in this cycle.
    if (due !== null) this.time(due);
  }

  private write(at: number, target: PendingTarget): void {
    const { lines } = target;
    const flying = this.subjects[at] as Flying;
    const number = this.numbers[at];
    const other = this.others[at];
    switch (this.commands[at]) {
      case Command.BEGIN:
        lines.begin(flying.id, flying.gid ?? Math.max(flying.id, 0), flying.tid);
        return;
      case Command.CODE:
        lines.label(flying.id, LabelKind.PANE, codeOf(flying, target.xlen));
        return;
      case Command.START:
        lines.stage(true, flying.id, number, textOf(other as Text, target));
        return;
      case Command.END:
        lines.stage(false, flying.id, number, textOf(other as Text, target));
        return;
      case Command.LABEL:
        lines.label(flying.id, number, textOf(other as Text, target));
        return;
      case Command.ANNOTATION:
        writeAnnotation(lines, flying, textOf(other as Text, target));
        return;
      case Command.DEPENDENCY:
        lines.dependency(flying.id, (other as Flying).id, number);
        return;
      case Command.LATE_DEPENDENCY: {
        const [consumer, producer] = other as readonly [number, number];
        lines.dependency(consumer, producer, number);
        return;
      }
      case Command.RETIRE: {
        const type = flying.retireType ?? (flying.isFlushed ? RetireType.FLUSHED : RetireType.RETIRED);
        lines.retire(flying.id, flying.rid ?? number, type);
        return;
      }
    }
  }

  private wanted(text: Text): Text {
    if (typeof text === 'number' && text >= 0) this.strings.add(text);
    return text;
  }

  private add(
    command: Command,
    subject: Flying | null,
    number: number,
    other: PendingCommands['others'][number],
  ): void {
    const at = this.count++;
    this.commands[at] = command;
    this.subjects[at] = subject;
    this.numbers[at] = number;
    this.others[at] = other;
  }

  private clear(): void {
    this.times = 0;
    this.count = 0;
    this.strings.clear();
  }
}

function textOf(text: Text, target: PendingTarget): string {
  return typeof text === 'string' ? text : target.text(text);
}

const hasCode = ({ pc, bits }: Flying): boolean => pc !== null || bits !== null;

function codeOf({ pc, bits }: Flying, xlen: Xlen | null): string {
  const address = pc === null ? '' : `${pcText(pc, xlen)}: `;
  return bits === null ? address : `${address}${bitsText(bits, pc, xlen)}`;
}

/** Text with the address in front is what the instruction is; other text is a detail. */
function writeAnnotation(lines: LineWriter, { id, pc, showsBits, showsPc }: Flying, text: string): void {
  const rest = pc === null ? null : withoutPc(text, pc);
  if (rest === null || showsBits) lines.label(id, LabelKind.DETAIL, rest ?? text);
  else lines.label(id, LabelKind.PANE, showsPc ? rest : text);
}

/** The text after the address that it begins with; null when it does not. */
function withoutPc(text: string, pc: bigint): string | null {
  const [all, digits] = /^\s*(?:0[xX])?([0-9a-fA-F]{1,16}):?\s*/.exec(text) ?? [];
  if (all === undefined || digits === undefined || BigInt(`0x${digits}`) !== pc) return null;
  return text.slice(all.length);
}
