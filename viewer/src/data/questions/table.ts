/** All questions by name. A new one is a file of this folder and a line here; pages import only the types. */
import { searchNames as namesOf, type SearchNames } from 'uscope/search';
import { find } from './find.js';
import { inFlight } from './in-flight.js';
import { inspect } from './inspect.js';
import { nearest } from './nearest.js';
import { profile, profileProgress } from './profile.js';
import type { Question } from './question.js';
import { relations } from './relations.js';
import { retired, rowOfRetired } from './retired.js';
import { series } from './series.js';
import { statistics, statisticsProgress } from './statistics.js';
import { timelineText } from './timeline-text.js';
import { transactions } from './transactions.js';
import { window } from './window.js';

/** Answered at once by a worker that is not in the middle of something. */
const alive: Question<null, true> = async () => true;

/** What patterns can name: for completion. */
const searchNames: Question<null, SearchNames> = async (_, { trace, core }) => namesOf(trace, core);

export const QUESTIONS = {
  alive,
  find,
  inFlight,
  inspect,
  nearest,
  profile,
  profileProgress,
  relations,
  retired,
  rowOfRetired,
  searchNames,
  series,
  statistics,
  statisticsProgress,
  timelineText,
  transactions,
  window,
} as const;

export type Questions = typeof QUESTIONS;
export type QuestionKind = keyof Questions;
export type Args<K extends QuestionKind> = Parameters<Questions[K]>[0];
export type Answer<K extends QuestionKind> = Awaited<ReturnType<Questions[K]>>;
