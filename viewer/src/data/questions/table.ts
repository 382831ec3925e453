/** All questions by name. A new one is a file of this folder and a line here; pages import only the types. */
import { retired, rowOfRetired } from './retired.js';
import { series } from './series.js';
import { timelineText } from './timeline-text.js';

export const QUESTIONS = { retired, rowOfRetired, series, timelineText } as const;

export type Questions = typeof QUESTIONS;
export type QuestionKind = keyof Questions;
export type Args<K extends QuestionKind> = Parameters<Questions[K]>[0];
export type Answer<K extends QuestionKind> = Awaited<ReturnType<Questions[K]>>;
