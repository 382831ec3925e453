/** All questions by name. A new one is a file of this folder and a line here, or in `on-demand.ts` with its name here; pages import only the types. */

import { loadPart } from '../../model/load.js';
import type { HELPER_QUESTIONS } from './helper-table.js';
import type * as onDemand from './on-demand.js';
import type { Question } from './question.js';

type OnDemand = typeof onDemand;

/** Answered by the data worker with a part of its script that is fetched when it is first needed. */
function later<K extends keyof OnDemand>(kind: K): OnDemand[K] {
  const question: Question<never, unknown> = async (args, context, signal) => {
    const { [kind]: answer } = await loadPart<OnDemand>('questions');
    return (answer as Question<never, unknown>)(args, context, signal);
  };
  return question as unknown as OnDemand[K];
}

/** Answered by the data worker. */
export const QUESTIONS = {
  inFlight: later('inFlight'),
  inspect: later('inspect'),
  nearest: later('nearest'),
  relations: later('relations'),
  retired: later('retired'),
  rowOfRetired: later('rowOfRetired'),
  searchNames: later('searchNames'),
  series: later('series'),
  timelineText: later('timelineText'),
  transactions: later('transactions'),
  window: later('window'),
} as const;

export type Questions = typeof QUESTIONS & typeof HELPER_QUESTIONS;
export type QuestionKind = keyof Questions;
export type Args<K extends QuestionKind> = Parameters<Questions[K]>[0];
export type Answer<K extends QuestionKind> = Awaited<ReturnType<Questions[K]>>;
