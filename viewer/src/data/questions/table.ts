/**
 * All questions by name, each with the thread that answers it. A new one is a file of this folder and a line here; pages import only the
 * types.
 */
import { searchNames as namesOf, type SearchNames } from 'uscope/search';
import { find } from './find.js';
import { inFlight } from './in-flight.js';
import { inspect } from './inspect.js';
import { nearest } from './nearest.js';
import { profile, profileProgress } from './profile.js';
import type { Question } from './question.js';
import { relations } from './relations.js';
import { retired, rowOfRetired } from './retired.js';
import { statistics, statisticsProgress } from './statistics.js';
import { timelineText } from './timeline-text.js';
import { transactions } from './transactions.js';
import { window } from './window.js';

/** Answered at once by a worker that is not in the middle of something. */
const alive: Question<null, true> = async () => true;

/** What patterns can name: for completion. */
const searchNames: Question<null, SearchNames> = async (_, { trace, core }) => namesOf(trace, core);

/** Quick ones, which the data worker answers: they also use an index that it has made. */
export const QUICK_QUESTIONS = {
  inFlight,
  inspect,
  nearest,
  relations,
  retired,
  rowOfRetired,
  window,
} as const;

/** Those that may take long, or that few pictures ask: a question worker answers them. */
export const LONG_QUESTIONS = {
  alive,
  find,
  profile,
  profileProgress,
  searchNames,
  statistics,
  statisticsProgress,
  timelineText,
  transactions,
} as const;

export type QuickQuestions = typeof QUICK_QUESTIONS;
export type LongQuestions = typeof LONG_QUESTIONS;
type AnyQuestion = (...args: never[]) => Promise<unknown>;
export type Args<Q> = Q extends AnyQuestion ? Parameters<Q>[0] : never;
export type Answer<Q> = Q extends AnyQuestion ? Awaited<ReturnType<Q>> : never;
