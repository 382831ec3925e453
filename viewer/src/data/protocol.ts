/** What the threads of the page say to each other. */
import type { RowBlock } from '../model/blocks.js';
import type { Growth } from '../model/growth.js';
import type { SumsPart, SumsShape } from '../model/sums.js';
import type { TraceSchema } from './library.js';

/** A trace to open: a URL, or a file the user dropped on the page. */
export type TraceOrigin =
  | { readonly url: string; readonly name: string }
  | { readonly file: File; readonly name: string };

export interface CoreInfo {
  readonly name: string;
  readonly stages: readonly string[];
  /** Of the core's clock; 0: not known, then a "cycle" is a picosecond. */
  readonly periodPs: number;
  readonly clock: string | null;
  readonly isa: string | null;
  readonly xlen: 32 | 64 | null;
}

/** Cycles and rows at the same places: the rows born before each cycle. */
export interface Diagonal {
  readonly cycles: Float64Array;
  readonly rows: Float64Array;
}

/** A clock of the trace; the cycles of one of them are the axis. */
export interface ClockInfo {
  readonly name: string;
  /** 0: not known. */
  readonly periodPs: number;
}

export interface TraceInfo {
  readonly name: string;
  /** None: the trace has no pipeline, but storages and events. */
  readonly cores: readonly CoreInfo[];
  /** Index of the core shown; -1: none. */
  readonly core: number;
  /** All clocks with a known period. */
  readonly clocks: readonly ClockInfo[];
  /** The clock of the axis; null: there is none, a "cycle" of the axis is a picosecond. */
  readonly clock: ClockInfo | null;
  /** Scopes, storages, events, enums. */
  readonly schema: TraceSchema;
  /** Paths without the root (`core0/rob`), by id. */
  readonly storageNames: readonly string[];
  readonly eventNames: readonly string[];
  /** Whether the trace has an index. */
  readonly hasIndex: boolean;
  /** Cycle at which each segment begins, and at last where the trace ends. */
  readonly segmentCycles: Float64Array;
  /** Where rows lie in time, from the trace summary; null: not known before the index is here. */
  readonly diagonal: Diagonal | null;
  readonly sums: SumsShape;
  /** Stall reasons, in the order of their columns. The last one: all others. */
  readonly reasons: readonly string[];
  readonly isComplete: boolean;
  readonly dut: readonly (readonly [string, string])[];
}

/** For the message panel. */
export interface Problem {
  readonly code: string;
  readonly what: string;
  /** What the user can do. */
  /** What to do; empty: what the page says of the code. */
  readonly advice: string;
  /** The trace cannot be shown at all. */
  readonly isFatal: boolean;
}

/** Page → data worker or question worker: questions of `questions/`. */
export type AskMessage =
  | { readonly type: 'ask'; readonly id: number; readonly kind: string; readonly args: unknown }
  /** The answer is not wanted any more: there will be none. */
  | { readonly type: 'cancel'; readonly id: number };

/** Back: exactly one, unless the question was cancelled. */
export type AskReply =
  | { readonly type: 'answer'; readonly id: number; readonly answer: unknown }
  | { readonly type: 'refused'; readonly id: number; readonly problem: Problem };

/** Page → question worker. */
export interface OpenQuestions {
  readonly type: 'open';
  readonly origin: TraceOrigin;
  readonly core: string | null;
}

/** Page → data worker. */
export interface OpenRequest extends OpenQuestions {
  /** Of the axis, where the trace has no core; `time`: picoseconds. */
  readonly clock: string | null;
  /** To the drawing worker. */
  readonly port: MessagePort;
}

/** Data worker → page. */
export type DataReport =
  | AskReply
  /** The trace is there, and nothing is recorded in it yet. */
  | { readonly type: 'waiting' }
  | { readonly type: 'opened'; readonly info: TraceInfo }
  /** A trace that is being written has more now, or has ended. */
  | { readonly type: 'grown'; readonly growth: Growth }
  | { readonly type: 'problem'; readonly problem: Problem };

/** Sums over a range, cycles. */
export interface SumsRange {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  readonly intervals: number;
}

/** Drawing worker → data worker: what is wanted now, most urgent first. What was wanted before and is not in it is dropped. */
export interface Want {
  readonly type: 'want';
  readonly segments: readonly number[];
  readonly sums: SumsRange | null;
  /** Blocks that had come by then: what was sent after them is not asked for again. */
  readonly received: number;
  /** Segments of the trace as far as the drawing worker knew. */
  readonly segmentCount: number;
  /** Of a trace that is being written the end is shown as soon as it is here: its instructions, or sums over time. null: it is not. */
  readonly following: 'rows' | 'sums' | null;
  /** End of the trace, cycles, as of the last picture in which nothing was missing. */
  readonly shownTo: number;
}

/** Data worker → drawing worker. */
export type DataMessage =
  | { readonly type: 'trace'; readonly info: TraceInfo }
  | { readonly type: 'grown'; readonly growth: Growth }
  | { readonly type: 'block'; readonly block: RowBlock }
  /** The index is here, at first with a coarse overview of the whole run. */
  | {
      readonly type: 'index';
      readonly rows: number;
      readonly diagonal: Diagonal;
      readonly mostInFlight: number;
    }
  | { readonly type: 'sums'; readonly part: SumsPart; readonly isOverview: boolean }
  /** The index is being made: part of it, 0 to 1. */
  | { readonly type: 'progress'; readonly progress: number }
  /** Without an index: the rows before a segment's end, in the order of segments. */
  | { readonly type: 'counted'; readonly segment: number; readonly rows: number };
