/** The timeline for people: blocks of as many cycles as fit the width, one row per instruction. */

import { maxOf } from '../../base/arrays.js';
import { onOneLine } from '../../base/printable.js';
import { BOLD, DIM, GREEN, RED, type Style, stageStyle, styled, YELLOW } from '../../base/terminal-style.js';
import type { CoreStall, CpuCore, Instruction } from '../cpu/index.js';
import { stageLetters } from './letters.js';
import { type Cells, MARKS, TimelineRow, type TimelineSpan } from './row.js';
import type { TimelineRange } from './selection.js';

export interface TextOptions {
  /** Characters per line. */
  readonly width: number;
  readonly colour: boolean;
  /** Cycle in which the trace ends. */
  readonly lastCycle: bigint;
  /** That of timelines printed together; without one it is made for the first instruction, and a head is printed. */
  readonly layout?: Layout | undefined;
  /** A block is over; it may have been empty. */
  readonly onBlock?: (() => void) | undefined;
  readonly out: (text: string) => void;
}

const MIN_CYCLES = 10;
const TICK = 10n;
const MIN_TEXT = 16;
const MAX_TEXT = 24;
const MANY = 10;
const GAP = '  ';
const LEGEND = [
  'lower case: held',
  `${MARKS.waiting} no stage`,
  `${MARKS.squashed} squashed`,
  `${MARKS.retired} retired`,
];
const DEFAULT_REASON = 'pipeline_clear'.length;

export interface Layout {
  readonly seq: number;
  readonly pc: number;
  readonly text: number;
  /** Cycles per block. */
  readonly cycles: number;
}

/** Prints a timeline; rows must come in order of birth. */
export class TextTimeline {
  /** Instructions known to be in flight, of which the trace has no data: not listed. */
  silent = 0;
  /** Rows printed, each instruction once. */
  printed = 0;
  private readonly letters: readonly string[];
  private readonly span: TimelineSpan;
  private layout: Layout | null = null;
  /** Start of the block that is being filled. */
  private blockStart = 0;
  private rows: TimelineRow[] = [];
  /** What precedes the cells of a row, once it has been printed. */
  private readonly heads = new WeakMap<TimelineRow, string>();
  private stall: IteratorResult<CoreStall> | null = null;

  constructor(
    private readonly core: CpuCore,
    private readonly range: TimelineRange,
    private readonly stalls: AsyncIterator<CoreStall>,
    private readonly options: TextOptions,
  ) {
    this.letters = stageLetters(core.stages);
    this.span = {
      origin: range.from,
      cycles: Number(range.to - range.from),
      knownUntil: Number(options.lastCycle + 1n - range.from),
    };
    this.layout = options.layout ?? null;
  }

  async add(instruction: Instruction): Promise<void> {
    const row = new TimelineRow(this.core, instruction, this.span, this.letters);
    if (row.isSilent) {
      this.silent++;
      return;
    }
    if (!this.layout) this.begin(instruction);
    while (row.first >= this.blockStart + this.layout!.cycles) await this.printBlock();
    this.rows.push(row);
  }

  async finish(): Promise<void> {
    if (!this.layout) return;
    while (this.blockStart < this.span.cycles && this.rows.length > 0) await this.printBlock();
  }

  private begin(instruction: Instruction): void {
    this.layout = layoutFor(this.core, instruction, this.options.width);
    this.printHead();
  }

  private printHead(): void {
    const { core, range, options } = this;
    const title = styled(BOLD, core.name, options.colour);
    const period = `${core.clock?.name ?? 'clock'} ${core.periodPs} ps`;
    options.out(`${title}  cycles ${range.from} to ${range.to - 1n}  (${onOneLine(period)})\n`);
    printLegend(core, options);
  }

  private async printBlock(): Promise<void> {
    const { cycles } = this.layout!;
    const from = this.blockStart;
    const to = Math.min(from + cycles, this.span.cycles);
    const shown = this.rows.filter((row) => row.first < to && row.last >= from);
    const stalls = await this.stallsUntil(to);
    if (shown.length > 0) {
      this.printRuler(from, to);
      for (const [reason, counts] of stalls) this.printStalls(reason, counts, from, to);
      for (const row of shown) this.printRow(row, from, to);
    }
    this.blockStart = from + cycles;
    this.rows = this.rows.filter((row) => row.last >= this.blockStart);
    this.options.onBlock?.();
  }

  /** Stalls by reason and cycle, up to a cycle. */
  private async stallsUntil(to: number): Promise<Map<string, Map<number, number>>> {
    const found = new Map<string, Map<number, number>>();
    const { periodPs } = this.core;
    for (;;) {
      this.stall ??= await this.stalls.next();
      if (this.stall.done) return found;
      const { timePs, reason } = this.stall.value;
      const cycle = Number(timePs / periodPs - this.range.from);
      if (cycle >= to) return found;
      const counts = found.get(reason) ?? new Map<number, number>();
      counts.set(cycle, (counts.get(cycle) ?? 0) + 1);
      found.set(reason, counts);
      this.stall = null;
    }
  }

  private printRuler(from: number, to: number): void {
    const { seq, pc, text } = this.layout!;
    const head = ` ${'#'.padStart(seq)} ${'pc'.padEnd(pc)} ${'instruction'.padEnd(text)} `;
    let ruler = '';
    for (let cycle = from; cycle < to; cycle++) {
      const number = this.range.from + BigInt(cycle);
      const isTick = number % TICK === 0n || cycle === from;
      const label = `|${number}`;
      if (!isTick || ruler.length > cycle - from) continue;
      // The first cycle of a block is named only where the next tick leaves room.
      const room = Number(TICK - (number % TICK));
      if (cycle === from && label.length >= room && cycle + room < to) continue;
      ruler = ruler.padEnd(cycle - from) + label;
    }
    this.options.out(`\n${styled(DIM, (head + ruler).trimEnd(), this.options.colour)}\n`);
  }

  private printStalls(reason: string, counts: ReadonlyMap<number, number>, from: number, to: number): void {
    const { seq, pc, text } = this.layout!;
    const width = seq + pc + text + 3;
    const head = `stall ${onOneLine(reason)}`.slice(0, width).padStart(width);
    let cells = '';
    for (let cycle = from; cycle < to; cycle++) {
      const count = counts.get(cycle) ?? 0;
      cells += count === 0 ? ' ' : count < MANY ? String(count) : '+';
    }
    this.options.out(`${styled(YELLOW, `${head} ${cells}`.trimEnd(), this.options.colour)}\n`);
  }

  private printRow(row: TimelineRow, from: number, to: number): void {
    const { colour, out } = this.options;
    const cells = row.cells(from, to);
    while (cells.at(-1)?.kind === 'empty') cells.pop();
    const reason = this.reasonAt(row, to);
    const line = this.headOf(row) + paintCells(cells, row.isSquashed, colour);
    const tail = reason && styled(RED, ` ${reason}`, colour);
    out(`${colour ? line : (line + tail).trimEnd()}${colour ? tail : ''}\n`);
  }

  private headOf(row: TimelineRow): string {
    const known = this.heads.get(row);
    if (known !== undefined) return known;
    this.printed++;
    const { seq, pc, text } = this.layout!;
    const { instruction } = row;
    const isMarked = this.range.pc !== null && instruction.pc === this.range.pc;
    const number = (instruction.seq?.toString() ?? '').padStart(seq);
    const address = (instruction.pc?.toString(16).padStart(8, '0') ?? '').padEnd(pc);
    const plain = `${isMarked ? '>' : ' '}${number} ${address} ${fit(onOneLine(row.text), text)} `;
    const style = row.isSquashed ? DIM : isMarked ? BOLD : null;
    const head = style ? styled(style, plain, this.options.colour) : plain;
    this.heads.set(row, head);
    return head;
  }

  /** The reason of a squash, in the block that shows it. */
  private reasonAt(row: TimelineRow, to: number): string {
    const { flush } = row.instruction;
    if (!flush || row.last >= to) return '';
    return onOneLine(flush.reason ?? '');
  }
}

/** What fits the width, for a core whose first instruction is this one. */
export function layoutFor(core: CpuCore, { seq, pc }: Instruction, width: number): Layout {
  const seqWidth = Math.max(4, (seq?.toString().length ?? 0) + 1);
  const pcWidth = Math.max(8, pc?.toString(16).length ?? 0);
  const reason = core.events.get('flush')?.fields.get('reason')?.labels?.values ?? [];
  const reasonWidth =
    maxOf(
      reason.map(({ name }) => name.length),
      DEFAULT_REASON,
    ) + 1;
  const available = width - seqWidth - pcWidth - reasonWidth - 4;
  const text = Math.max(MIN_TEXT, Math.min(MAX_TEXT, Math.floor(available / 3)));
  const cycles = Math.max(MIN_CYCLES, available - text);
  return { seq: seqWidth, pc: pcWidth, text, cycles };
}

/** Letters of the stages, and what the other marks mean. */
export function printLegend(
  core: CpuCore,
  { width, colour, out }: Pick<TextOptions, 'width' | 'colour' | 'out'>,
): void {
  const letters = stageLetters(core.stages);
  const entries = [
    ...core.stages.map((name, index) => ({
      text: onOneLine(`${letters[index]} ${name}`),
      style: stageStyle(index),
    })),
    ...LEGEND.map((text) => ({ text, style: DIM })),
  ];
  let used = 0;
  for (const { text, style } of entries) {
    const fits = used > 0 && used + GAP.length + text.length <= width;
    if (used > 0) out(fits ? GAP : '\n');
    used = fits ? used + GAP.length + text.length : text.length;
    out(styled(style, text, colour));
  }
  out('\n');
}

/** Neighbours of one style share their escape sequences. */
function paintCells(cells: readonly Cells[], isSquashed: boolean, colour: boolean): string {
  if (!colour) return cells.map(({ text }) => text).join('');
  let line = '';
  for (let at = 0; at < cells.length; ) {
    const style = cellStyle(cells[at], isSquashed);
    let text = '';
    for (; at < cells.length && cellStyle(cells[at], isSquashed) === style; at++) text += cells[at].text;
    line += style ? styled(style, text, true) : text;
  }
  return line;
}

function cellStyle(cell: Cells, isSquashed: boolean): Style | null {
  switch (cell.kind) {
    case 'empty':
      return null;
    case 'squashed':
    case 'lost':
      return RED;
    case 'retired':
      return GREEN;
    case 'stage':
      return isSquashed ? DIM : stageStyle(cell.stage);
    case 'held':
      return isSquashed ? DIM : stageStyle(cell.stage, true);
    default:
      return DIM;
  }
}

function fit(text: string, width: number): string {
  return text.length <= width ? text.padEnd(width) : `${text.slice(0, width - 1)}~`;
}
