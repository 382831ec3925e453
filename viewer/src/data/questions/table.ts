/** All questions by name. A new one is a file of this folder and a line here; pages import only the types. */
import { series } from './series.js';
import { transactions } from './transactions.js';
import { window } from './window.js';

export const QUESTIONS = { series, transactions, window } as const;

export type Questions = typeof QUESTIONS;
export type QuestionKind = keyof Questions;
export type Args<K extends QuestionKind> = Parameters<Questions[K]>[0];
export type Answer<K extends QuestionKind> = Awaited<ReturnType<Questions[K]>>;
