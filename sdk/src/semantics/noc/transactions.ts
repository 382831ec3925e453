/** The transactions of a network as objects, and the credits of its links. */
import type { Trace } from '../../reader/index.js';
import { rangeInPs } from '../cpu/query-range.js';
import { TransactionsOfBlock } from './from-block.js';
import { findNetworks, type NocNetwork } from './networks.js';
import { pairEvent } from './payload.js';
import type { Transaction } from './transaction.js';
import { type NocRange, type TransactionOptions, transactionBlocks } from './transaction-blocks.js';

/** As `transactionBlocks`, one object for each; one that ends when the range begins is among them. @throws UscopeError as there */
export async function* transactions(
  trace: Trace,
  network: NocNetwork,
  range: NocRange = {},
  options: TransactionOptions = {},
): AsyncGenerator<Transaction> {
  const networks = findNetworks(trace);
  for await (const block of transactionBlocks(trace, network, range, options)) {
    const rows = new TransactionsOfBlock(trace, networks, block);
    await rows.load();
    for (let row = 0; row < block.count; row++) yield rows.at(row);
  }
}

/** Credits of a link, as they are recorded. */
export interface LinkCredit {
  readonly timePs: bigint;
  readonly link: bigint;
  readonly credits: bigint;
}

/** The events `link_credit` of a network in a range, in file order. @throws UscopeError as `transactions` */
export async function* linkCredits(
  trace: Trace,
  network: NocNetwork,
  range: NocRange = {},
): AsyncGenerator<LinkCredit> {
  const { from, to } = rangeInPs(network, range);
  const event = network.events.get('link_credit');
  if (!event || from === to) return;
  const names = [...event.fields.keys()];
  for await (const found of trace.events(from, to, [pairEvent(event).type])) {
    const [link = 0n, credits = 0n] = names.map((name) => found.field(name) ?? 0n);
    yield { timePs: found.timePs, link, credits };
  }
}
