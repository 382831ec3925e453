/** All state of the page of two runs, in one place. */
import { computed, signal } from '@preact/signals';
import type { CoreReport } from 'uscope/cpu';
import type { Problem } from '../data/protocol.js';
import { comparedTrace } from './origins.js';
import { Pairs } from './pairs.js';
import type { CompareTotals, CostLine, Difference, FunctionCost } from './protocol.js';

export const ALIGNMENTS = ['retired', 'cycle'] as const;
export type Alignment = (typeof ALIGNMENTS)[number];
export const ARRANGEMENTS = ['above', 'overlay', 'differences'] as const;
type Arrangement = (typeof ARRANGEMENTS)[number];
export const TABS = ['instructions', 'functions', 'statistics'] as const;
export type Tab = (typeof TABS)[number];

const asked = new URLSearchParams(location.hash.slice(1));
const chosen = <T extends string>(key: string, choices: readonly T[]): T =>
  choices.find((one) => one === asked.get(key)) ?? choices[0]!;

export const traces = { a: comparedTrace('a'), b: comparedTrace('b') };
export const alignment = signal<Alignment>(chosen('align', ALIGNMENTS));
export const arrangement = signal<Arrangement>(chosen('show', ARRANGEMENTS));
export const tab = signal<Tab>(chosen('tab', TABS));
/** Which differences the commands go to: of the program only, or also where B loses or gains at least this number of cycles; 0: only those of the program. */
export const threshold = signal(
  Math.max(0, Math.min(1e9, Math.floor(Number(asked.get('cycles') ?? 1)) || 0)),
);

export const pairs = new Pairs();
/** Grows with `pairs`. */
export const pairCount = signal(0);
export const differences = signal<readonly Difference[]>([]);
export const totals = signal<CompareTotals>({ retiredA: 0, retiredB: 0, same: 0, differences: 0 });
/** 0 to 1; 1: everything is compared. */
export const progress = signal(0);
export const isCompared = signal(false);
export const costs = signal<readonly CostLine[]>([]);
export const functions = signal<readonly FunctionCost[] | null>(null);
export const reports = signal<{ readonly a: CoreReport | null; readonly b: CoreReport | null }>({
  a: null,
  b: null,
});
export const problems = signal<readonly Problem[]>([]);
export const isUnfinished = signal(false);

/** Retired instructions of A at which the pictures are; null: not known. */
export const place = signal<number | null>(null);
/** The row of A at which the pictures are brought to the same height; null: not known. */
export const placeRow = signal<number | null>(null);
/** A short sentence on what a command did. */
export const notice = signal('');

/**
 * How many instructions of A are behind the last one that both runs retired, where the runs part for good; 0: they end together. A thinned list has
 * its last pair up to a stride before that one.
 */
export const partedFor = computed(() => {
  if (pairCount.value === 0) return 0;
  const { retiredA } = totals.value;
  const behind = retiredA - 1 - pairs.value('retiredA', pairs.count - 1);
  return behind > pairs.stride ? behind : 0;
});

/** Cycles that B has lost since the beginning, at the last instruction that both retired. */
export const lastDrift = computed(() => (pairCount.value > 0 ? pairs.drift(pairs.count - 1) : 0));
