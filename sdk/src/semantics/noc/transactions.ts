/** The transactions of a network, each with its whole life, streamed. */

import { UscopeError } from '../../base/errors.js';
import { requireCount } from '../../reader/arguments.js';
import type { Trace } from '../../reader/index.js';
import { CatalogCheckpoints } from '../common/catalog-checkpoint.js';
import { type CoreRange, rangeInPs } from '../cpu/core-range.js';
import { segmentToBeginWith } from '../lifecycle/history.js';
import { LifecycleWalk, segmentsToWalk } from '../lifecycle/lifecycle-walk.js';
import { SegmentAccess } from '../lifecycle/segments.js';
import type { LiveTransaction } from './live-transaction.js';
import { findNetworks, type NocNetwork } from './networks.js';
import { pairEvent } from './payload.js';
import { NocTracker } from './tracker.js';
import { type Transaction, TransactionEnd } from './transaction.js';

/** Start inclusive, end exclusive; by default the whole trace. In ps, or in cycles of the network's clock. */
export type NocRange = CoreRange;

export interface TransactionOptions {
  /** Segments read before the range to find the birth of those in flight at its start. Default 16. */
  readonly lookback?: number | undefined;
  /** Segments read after the range to find the end of those in flight at its end. Default 16; 0 stops at the end of the range. */
  readonly lookahead?: number | undefined;
}

const DEFAULT_SEGMENTS = 16;
/** Ended transactions that may wait for an older one in flight. */
const MAX_HELD = 65_536;

/**
 * The transactions of one network (or router) in flight at some time of a range, in order of birth; one that ends when the range begins is
 * among them. Handoffs name the other one, in whatever network it is. Memory is bounded: a transaction for which 65,536 younger ones,
 * already ended, would have to wait comes after those.
 * @throws UscopeError READER_NAME (the network records no transactions), READER_NO_CYCLES (cycles asked of a clock without period),
 *   READER_RANGE (the range ends before it begins), FORMAT_* for damage
 */
export async function* transactions(
  trace: Trace,
  network: NocNetwork,
  range: NocRange = {},
  options: TransactionOptions = {},
): AsyncGenerator<Transaction> {
  const catalog = requireTransactions(network);
  const { from, to } = rangeInPs(network, range);
  const { lookback = DEFAULT_SEGMENTS, lookahead = DEFAULT_SEGMENTS } = options;
  requireCount(lookback, 'lookback');
  requireCount(lookahead, 'lookahead');
  const access = await SegmentAccess.of(trace);
  if (access.count === 0 || from === to) return;
  const first = await segmentToBeginWith(access, catalog, from, lookback);
  const networks = findNetworks(trace);
  const tracker = new NocTracker(
    networks,
    networks.map(({ scopeId }) => scopeId === network.scopeId),
  );
  const walk = new LifecycleWalk(trace, tracker, to ?? null);
  const checkpoints = networks.map(
    ({ transactions: known }) => known && CatalogCheckpoints.of(trace, known.def),
  );
  const finished = (all: boolean): Promise<Transaction[]> =>
    finish(trace, networks, tracker.take(all, MAX_HELD), from);
  for await (const segment of segmentsToWalk(access, walk, first, to, lookahead)) {
    if (segment.index === first) tracker.begin(await access.stateBefore(segment.index));
    else {
      const states = checkpoints.map((one) => one?.at(segment) ?? null);
      tracker.continueFrom(states, segment.header.timeStartPs);
    }
    walk.begin(segment);
    while (walk.run()) yield* await finished(false);
    if (walk.isDone) break;
    yield* await finished(false);
  }
  yield* await finished(true);
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

function requireTransactions(network: NocNetwork) {
  if (network.transactions) return network.transactions;
  throw new UscopeError(
    'READER_NAME',
    `${network.name} has no storage "transactions": the trace follows no transactions of it`,
  );
}

/** What was tracked, without those that ended before the range. */
async function finish(
  trace: Trace,
  networks: readonly NocNetwork[],
  tracked: readonly LiveTransaction[],
  from: bigint,
): Promise<Transaction[]> {
  const wanted = tracked.filter(({ endPs }) => endPs === null || endPs >= from);
  await trace.strings.load(new Set(wanted.flatMap(({ annotations }) => annotations.map((a) => a.string))));
  const result = wanted.map((one) => toTransaction(trace, networks, one));
  // Partners must not be kept alive by each other.
  for (const one of tracked) one.handoffs = [];
  return result;
}

function toTransaction(trace: Trace, networks: readonly NocNetwork[], one: LiveTransaction): Transaction {
  const { name, transactions: catalog } = networks[one.network]!;
  const { id, birthPs, stages, beats, retries, timeouts, arbitrations, endPs, isAbridged } = one;
  const value = (field: number | undefined): bigint | null => one.values[field ?? -1] ?? null;
  const number = (field: number | undefined): number | null => {
    const found = value(field);
    return found === null ? null : Number(found);
  };
  const opcode = number(catalog?.opcodeField);
  return {
    network: name,
    id,
    opcode: opcode === null ? null : (catalog?.opcodeLabel(opcode) ?? null),
    addr: value(catalog?.addrField),
    len: number(catalog?.lenField),
    size: number(catalog?.sizeField),
    srcPort: number(catalog?.srcPortField),
    dstPort: number(catalog?.dstPortField),
    birthPs,
    stages,
    beats,
    retries,
    timeouts,
    arbitrations,
    annotations: one.annotations.map(({ timePs, string }) => ({
      timePs,
      text: trace.strings.peek(string) ?? `#${string}`,
    })),
    handoffs: one.handoffs.map(({ timePs, direction, partner, id: other }) => ({
      timePs,
      direction,
      network: partner ? networks[partner.network]!.name : null,
      id: other,
      birthPs: partner?.birthPs ?? null,
    })),
    end: endPs === null ? TransactionEnd.IN_FLIGHT : one.end,
    endPs,
    isAbridged,
  };
}
