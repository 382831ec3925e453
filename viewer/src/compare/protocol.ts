/** What the page of two runs and its thread say to each other. */
import type { CoreReport } from 'uscope/cpu';
import type { Problem, TraceOrigin } from '../data/protocol.js';
import type { Side, SideCost } from './costs.js';
import type { PairColumns } from './pairs.js';

/** Page → thread, once. */
export interface CompareRequest {
  readonly type: 'compare';
  readonly a: TraceOrigin;
  readonly b: TraceOrigin;
  /** Names of cores; null: the first. */
  readonly coreA: string | null;
  readonly coreB: string | null;
  /** The program's ELF file, for its functions. */
  readonly elf: string | null;
}

/** An instruction as a line of a listing. */
export interface Line {
  readonly pc: string;
  readonly text: string;
}

/** A place where the two runs retire different instructions. */
export interface Difference {
  /** Instructions that only A, and only B retired; as many of them as both have differ, the others are too many. */
  readonly a: number;
  readonly b: number;
  /** Instructions that each retired before. */
  readonly retiredA: number;
  readonly retiredB: number;
  /** Row and cycle of the first of them, or of the first one after; -1: there is none. */
  readonly rowA: number;
  readonly rowB: number;
  readonly cycleA: number;
  readonly cycleB: number;
  /** The first of them. */
  readonly linesA: readonly Line[];
  readonly linesB: readonly Line[];
  /** The two do not meet again. */
  readonly isLast: boolean;
}

export interface CostLine extends Line {
  readonly a: SideCost;
  readonly b: SideCost;
}

export interface FunctionCost {
  readonly name: string;
  readonly a: SideCost;
  readonly b: SideCost;
}

export interface CompareTotals {
  readonly retiredA: number;
  readonly retiredB: number;
  /** Instructions that both retired. */
  readonly same: number;
  readonly differences: number;
}

/** Thread → page. */
export type CompareReport =
  | {
      readonly type: 'opened';
      readonly side: Side;
      readonly core: string | null;
      readonly isComplete: boolean;
    }
  | { readonly type: 'pairs'; readonly columns: PairColumns; readonly count: number }
  | { readonly type: 'differences'; readonly list: readonly Difference[] }
  | { readonly type: 'progress'; readonly part: number; readonly totals: CompareTotals }
  | {
      readonly type: 'costs';
      readonly lines: readonly CostLine[];
      /** null: no ELF file was given. */
      readonly functions: readonly FunctionCost[] | null;
    }
  /** Everything is compared. */
  | { readonly type: 'compared'; readonly totals: CompareTotals }
  | { readonly type: 'statistics'; readonly side: Side; readonly report: CoreReport | null }
  | { readonly type: 'problem'; readonly problem: Problem };
