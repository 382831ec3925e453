/** What patterns can name: for completion. */
import { searchNames as namesOf, type SearchNames } from 'uscope/search';
import type { Question } from './question.js';

export const searchNames: Question<null, SearchNames> = async (_, { trace, core }) => namesOf(trace, core);
