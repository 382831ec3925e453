/** Transactions in flight in a window of time, of all networks. */

import { loadPart } from '../../model/load.js';
import type { TransactionAnswer, TransactionArgs } from '../../model/transactions.js';
import type { Question } from './question.js';

export const transactions: Question<TransactionArgs, TransactionAnswer> = async (args, context, signal) => {
  const noc = await loadPart<typeof import('../noc.js')>('noc');
  return noc.transactions(args, context, signal);
};
