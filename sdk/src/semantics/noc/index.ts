/** Meaning of traces with the `noc` protocol. */
export { MAX_ENTRIES } from './live-transaction.js';
export {
  findNetwork,
  findNetworks,
  NOC_PROTOCOL,
  type NocEventName,
  type NocNetwork,
  type NocTransactions,
} from './networks.js';
export {
  type Arbitration,
  type Beat,
  type Handoff,
  type Retry,
  type Transaction,
  TransactionEnd,
  type TransactionNote,
  type TransactionStage,
} from './transaction.js';
export {
  type LinkCredit,
  linkCredits,
  type NocRange,
  type TransactionOptions,
  transactions,
} from './transactions.js';
