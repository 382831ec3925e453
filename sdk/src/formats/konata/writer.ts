/** Writes Kanata logs, line by line as bytes: most of an export is spent here. */
import { UscopeError } from '../../base/errors.js';
import { ByteText } from '../text/byte-text.js';
import { type ByteSink, TextOutput } from '../text/output.js';
import type { Packing } from '../text/unpack.js';
import { KANATA_VERSION, type KanataRecord, NO_NUMBER } from './line.js';

const [TAB, LF, CR, ZERO] = [0x09, 0x0a, 0x0d, 0x30];
const [C, E, I, L, R, S, W] = [...'CEILRSW'].map((letter) => letter.charCodeAt(0));
/** Stages whose form in a column is remembered. */
const MOST_STAGES = 1024;
/** How the trace has `NO_NUMBER`. */
const NO_NUMBER_BITS = (1n << 64n) - 1n;
const SHORT_LINE = 256;

/** Appends lines to `text`. Tabs in texts become blanks, line feeds the two characters `\n`, as viewers want them. */
export class LineWriter {
  private readonly stages = new Map<string, string>();

  constructor(private readonly text: ByteText) {}

  /** @throws UscopeError FORMAT_VALUE for a stage without name, or cycles that run backwards */
  record(record: KanataRecord): void {
    switch (record.kind) {
      case 'cycle':
        this.cycle(record.cycle);
        return;
      case 'advance':
        this.advance(record.cycles);
        return;
      case 'begin':
        this.numbers(I, record.id, record.gid, record.tid);
        return;
      case 'label':
        this.label(record.id, record.type, record.text);
        return;
      case 'start':
      case 'end':
        this.stage(record.kind === 'start', record.id, record.lane, record.stage);
        return;
      case 'retire':
        this.retire(record.id, record.rid, record.type);
        return;
      case 'dependency':
        this.dependency(record.consumer, record.producer, record.type);
        return;
      case 'unknown':
        this.text.string(`${record.text}\n`);
        return;
    }
  }

  cycle(cycle: bigint): void {
    this.text.ascii(`C=\t${cycle}\n`);
  }

  /** @throws UscopeError FORMAT_VALUE */
  advance(cycles: bigint): void {
    if (cycles < 0n) throw new UscopeError('FORMAT_VALUE', `${cycles} cycles cannot pass`);
    const { text } = this;
    text.byte(C);
    text.byte(TAB);
    if (cycles < 10n) text.byte(ZERO + Number(cycles));
    else text.whole(cycles);
    text.byte(LF);
  }

  begin(id: number, gid: number | bigint, tid: number): void {
    this.numbers(I, id, gid, tid);
  }

  retire(id: number, rid: number | bigint, type: number): void {
    this.numbers(R, id, rid, type);
  }

  dependency(consumer: number, producer: number, type: number): void {
    this.numbers(W, consumer, producer, type);
  }

  label(id: number, type: number, label: string): void {
    const { text } = this;
    this.head(L, id, type);
    const from = text.length;
    text.string(label);
    if (hasBreak(text.bytes, from, text.length)) {
      text.length = from;
      text.string(columnOf(label));
    }
    text.byte(LF);
  }

  /** @throws UscopeError FORMAT_VALUE for one without name */
  stage(isStart: boolean, id: number, lane: number, stage: string): void {
    this.head(isStart ? S : E, id, lane);
    this.text.string(this.stages.get(stage) ?? this.stageColumn(stage));
    this.text.byte(LF);
  }

  private stageColumn(stage: string): string {
    const column = columnOf(stage).trim();
    if (column === '') throw new UscopeError('FORMAT_VALUE', 'a stage needs a name');
    if (this.stages.size >= MOST_STAGES) this.stages.clear();
    this.stages.set(stage, column);
    return column;
  }

  private head(command: number, id: number, second: number): void {
    const { text } = this;
    text.byte(command);
    text.byte(TAB);
    text.whole(id);
    text.byte(TAB);
    text.whole(second);
    text.byte(TAB);
  }

  private numbers(command: number, a: number, b: number | bigint, c: number): void {
    const { text } = this;
    text.byte(command);
    text.byte(TAB);
    text.whole(a);
    text.byte(TAB);
    text.whole(b === NO_NUMBER_BITS ? NO_NUMBER : b);
    text.byte(TAB);
    text.whole(c);
    text.byte(LF);
  }
}

export class KanataWriter {
  /** For lines without a record. */
  readonly lines: LineWriter;
  private readonly out: TextOutput;

  /** @throws UscopeError ENV_MISSING for zstd without the optional package */
  constructor(sink: ByteSink, packing: Packing = 'plain') {
    this.out = new TextOutput(sink, packing);
    this.out.text.ascii(`Kanata\t${KANATA_VERSION}\n`);
    this.lines = new LineWriter(this.out.text);
  }

  /** Cheap; await `drain()` now and then. @throws UscopeError FORMAT_VALUE for a stage without name, or cycles that run backwards */
  write(record: KanataRecord): void {
    this.lines.record(record);
  }

  drain(): Promise<void> {
    return this.out.drain();
  }

  /** Everything is in the sink. */
  end(): Promise<void> {
    return this.out.end();
  }
}

/** With its line feed. Tabs in texts become blanks, line feeds the two characters `\n`, as viewers want them. */
export function lineOf(record: KanataRecord): string {
  const text = new ByteText(SHORT_LINE);
  new LineWriter(text).record(record);
  return text.text();
}

function hasBreak(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at];
    if (byte === TAB || byte === LF || byte === CR) return true;
  }
  return false;
}

function columnOf(text: string): string {
  return /[\t\r\n]/.test(text) ? text.replace(/\r?\n/g, '\\n').replace(/[\t\r]/g, ' ') : text;
}
