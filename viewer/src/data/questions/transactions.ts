/** Transactions in flight in a window of time, of all networks. */
import type { TransactionAnswer, TransactionArgs } from '../../model/transactions.js';
import { load } from '../load.js';
import type { Question } from './question.js';

export const transactions: Question<TransactionArgs, TransactionAnswer> = async (args, context, signal) => {
  const noc = await load('noc');
  return noc.transactions(args, context, signal);
};
