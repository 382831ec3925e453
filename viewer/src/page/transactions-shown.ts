/** The transactions that their track shows. */
import { signal } from '@preact/signals';
import type { TransactionAnswer } from '../model/transactions.js';

/** The latest answer. */
export const transactionsShown = signal<TransactionAnswer | null>(null);
