/** What the index knows of the numbers of instructions: blocks need not count then. */
import type { BlockOptions } from 'uscope/cpu';
import type { QuestionContext } from './questions/question.js';

export function birthsOf(context: QuestionContext): Pick<BlockOptions, 'birthsBefore'> {
  const known = context.indexNow();
  return known ? { birthsBefore: (segment) => known.birthsBefore(context.info.core, segment) } : {};
}
