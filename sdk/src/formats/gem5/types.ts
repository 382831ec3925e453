/** gem5's O3PipeView: seven lines per instruction, written when it has retired or was squashed, times in ticks (1 ps unless gem5 was told otherwise). */

export const GEM5_STAGES = ['fetch', 'decode', 'rename', 'dispatch', 'issue', 'complete', 'retire'] as const;
export type Gem5Stage = (typeof GEM5_STAGES)[number];

export interface Gem5Instruction {
  readonly seq: bigint;
  readonly pc: bigint;
  /** Of the micro-operation within its instruction. */
  readonly microPc: number;
  readonly disassembly: string;
  /** Tick of each of GEM5_STAGES; 0: not reached. Without a tick of `retire` it was squashed. */
  readonly ticks: readonly number[];
  /** When a store had written; 0: it was none, or had not. */
  readonly storeTick: number;
  /** False: the log ends, or the next instruction begins, before its last line. */
  readonly isWhole: boolean;
  /** The first stage without a line, though more lines follow: gem5 prints all of them, so the log is damaged there. Null: none. */
  readonly lacks: number | null;
  /** Of its first line, in the unpacked text. */
  readonly offset: number;
}
