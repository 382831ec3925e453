/** What the log says of one instruction, in memory that is used again: the reader fills it, the passes look at it. */
import { GEM5_STAGES, type Gem5Instruction } from './types.js';

export const STAGES = GEM5_STAGES.length;
export const RENAME_STAGE = GEM5_STAGES.indexOf('rename');
export const DISPATCH_STAGE = GEM5_STAGES.indexOf('dispatch');
export const RETIRE = STAGES - 1;
/** A stage without a line. */
export const NO_LINE = -1;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export class Gem5Block {
  /** Above 2^53 - 1 a bigint. */
  seq: number | bigint = 0;
  pc: number | bigint = 0;
  microPc = 0;
  /** By stage; NO_LINE: there was no line of it. */
  readonly ticks = new Float64Array(STAGES);
  storeTick = 0;
  /** Of its first line, in the unpacked text. */
  offset = 0;
  isWhole = false;
  /** Another instruction follows, so that all its lines should be there. */
  hasSuccessor = false;
  /** The object that its lines begin with (`system.cpu1`); '': none. */
  object = '';
  /** The disassembly, in UTF-8. */
  text = new Uint8Array(64);
  textLength = 0;

  begin(tick: number, offset: number): void {
    this.ticks.fill(NO_LINE);
    this.ticks[0] = tick;
    this.storeTick = 0;
    this.offset = offset;
    this.isWhole = false;
    this.hasSuccessor = true;
  }

  setText(bytes: Uint8Array, from: number, to: number): void {
    const length = to - from;
    if (length > this.text.length) this.text = new Uint8Array(2 * length);
    const { text } = this;
    for (let i = 0; i < length; i++) text[i] = bytes[from + i];
    this.textLength = length;
  }

  /** Of a stage; 0: not reached, or no line. */
  tick(stage: number): number {
    return Math.max(0, this.ticks[stage]);
  }

  /** The first stage without a line though more lines follow; -1: none. */
  get lacks(): number {
    return this.hasSuccessor ? this.ticks.indexOf(NO_LINE) : -1;
  }

  get isSquashed(): boolean {
    return this.isWhole && this.ticks[RETIRE] <= 0;
  }

  /** As an object that keeps its values. */
  copy(): Gem5Instruction {
    const { lacks } = this;
    return {
      seq: BigInt(this.seq),
      pc: BigInt(this.pc),
      microPc: this.microPc,
      disassembly: decoder.decode(this.text.subarray(0, this.textLength)),
      ticks: Array.from(this.ticks, (tick) => Math.max(0, tick)),
      storeTick: this.storeTick,
      isWhole: this.isWhole,
      lacks: lacks < 0 ? null : lacks,
      offset: this.offset,
    };
  }
}
