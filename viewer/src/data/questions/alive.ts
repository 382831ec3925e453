/** Answered at once by a worker that is not in the middle of something. */
import type { Question } from './question.js';

export const alive: Question<null, true> = async () => true;
