/** Meaning of traces with the `noc` protocol. */

export { TransactionsOfBlock } from './from-block.js';
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
  type TransactionBlock,
  TransactionBlockEnd,
  TransactionField,
  TransactionFlag,
  transactionTime,
  transactionTransferList,
  UNKNOWN_PARTNER,
} from './transaction-block.js';
export { type NocRange, type TransactionOptions, transactionBlocks } from './transaction-blocks.js';
export { type LinkCredit, linkCredits, transactions } from './transactions.js';
