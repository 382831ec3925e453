/** Kanata 0004, the log of the Konata viewer: a command per line, columns separated by tabs, time in cycles. */

export const KANATA_VERSION = '0004';

/** What an `L` says: 0 shown next to the instruction, 1 shown when pointed at, 2 about the present stage. */
export const LabelKind = { PANE: 0, DETAIL: 1, STAGE: 2 } as const;

export type KanataRecord =
  /** `C=`: the cycle from here on; the first one may be negative. */
  | { readonly kind: 'cycle'; readonly cycle: bigint }
  /** `C`: the number of cycles that pass. */
  | { readonly kind: 'advance'; readonly cycles: bigint }
  /** `I`: an instruction with its number in the file, in the simulator, and its thread. */
  | { readonly kind: 'begin'; readonly id: number; readonly gid: bigint; readonly tid: number }
  /** `L`: text may hold `\n`, written as these two characters. Fragments of one kind join. */
  | { readonly kind: 'label'; readonly id: number; readonly type: number; readonly text: string }
  /** `S`: a stage begins. Lane 0 is the pipeline, the others lie over it. */
  | { readonly kind: 'start'; readonly id: number; readonly lane: number; readonly stage: string }
  /** `E`: it ends. May be left out: the next `S` of the lane and the `R` end it too. */
  | { readonly kind: 'end'; readonly id: number; readonly lane: number; readonly stage: string }
  /** `R`. */
  | { readonly kind: 'retire'; readonly id: number; readonly rid: bigint; readonly type: number }
  /** `W`: the consumer waited for the producer; type 0 is a wake-up. */
  | {
      readonly kind: 'dependency';
      readonly consumer: number;
      readonly producer: number;
      readonly type: number;
    };

export interface PlacedRecord {
  readonly record: KanataRecord;
  /** Of its line, in the unpacked text. */
  readonly offset: number;
}
