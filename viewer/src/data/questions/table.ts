/** All questions by name. A new one is a file of this folder and a line here; pages import only the types. */
import type { HELPER_QUESTIONS } from './helper-table.js';
import { inFlight } from './in-flight.js';
import { inspect } from './inspect.js';
import { nearest } from './nearest.js';
import { relations } from './relations.js';
import { searchNames } from './search-names.js';
import { series } from './series.js';
import { transactions } from './transactions.js';
import { window } from './window.js';

/** Answered by the data worker. */
export const QUESTIONS = {
  series,
  transactions,
  window,
  inFlight,
  inspect,
  nearest,
  relations,
  searchNames,
} as const;

export type Questions = typeof QUESTIONS & typeof HELPER_QUESTIONS;
export type QuestionKind = keyof Questions;
export type Args<K extends QuestionKind> = Parameters<Questions[K]>[0];
export type Answer<K extends QuestionKind> = Awaited<ReturnType<Questions[K]>>;
