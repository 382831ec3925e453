/** The transactions of a network, each with its whole life, in blocks. */
import { UscopeError } from '../../base/errors.js';
import { Turns } from '../../base/turns.js';
import { requireCount } from '../../reader/arguments.js';
import type { Trace } from '../../reader/index.js';
import { CatalogCheckpoints } from '../common/catalog-checkpoint.js';
import { type CoreRange, rangeInPs } from '../cpu/query-range.js';
import { segmentToBeginWith } from '../lifecycle/history.js';
import { LifecycleWalk } from '../lifecycle/lifecycle-walk.js';
import { SegmentAccess, segmentsToWalk } from '../lifecycle/segments.js';
import { findNetworks, type NocNetwork } from './networks.js';
import { toTransactionBlock } from './to-block.js';
import { NocTracker } from './tracker.js';
import type { TransactionBlock } from './transaction-block.js';

/** Start inclusive, end exclusive; by default the whole trace. In ps, or in cycles of the network's clock. */
export type NocRange = CoreRange;

export interface TransactionOptions {
  /** Segments read before the range to find the birth of those in flight at its start. Default 16. */
  readonly lookback?: number | undefined;
  /** Segments read after the range to find the end of those in flight at its end. Default 16; 0 stops at the end of the range. */
  readonly lookahead?: number | undefined;
  /** Ends the work soon after it is aborted: the call then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

const DEFAULT_SEGMENTS = 16;
/** Ended transactions that may wait for an older one in flight. */
const MAX_HELD = 65_536;

/**
 * The transactions of one network (or router) in flight at some time of a range, in order of birth, as typed arrays: some thousand in a block.
 * Handoffs name the other one, in whatever network it is. Memory is bounded: a transaction for which 65,536 younger ones, already ended,
 * would have to wait comes after those.
 * @throws UscopeError READER_NAME (the network records no transactions), READER_NO_CYCLES (cycles asked of a clock without period),
 *   READER_RANGE (the range ends before it begins), FORMAT_* for damage
 */
export async function* transactionBlocks(
  trace: Trace,
  network: NocNetwork,
  range: NocRange = {},
  options: TransactionOptions = {},
): AsyncGenerator<TransactionBlock> {
  const catalog = requireTransactions(network);
  const { from, to } = rangeInPs(network, range);
  const { lookback = DEFAULT_SEGMENTS, lookahead = DEFAULT_SEGMENTS } = options;
  requireCount(lookback, 'lookback');
  requireCount(lookahead, 'lookahead');
  const turns = new Turns(options.signal);
  const access = await SegmentAccess.of(trace);
  if (access.count === 0 || from === to) return;
  const first = await segmentToBeginWith(access, catalog, from, lookback);
  const networks = findNetworks(trace);
  const index = networks.findIndex(({ scopeId }) => scopeId === network.scopeId);
  const tracker = new NocTracker(
    networks,
    networks.map((_, one) => one === index),
  );
  const walk = new LifecycleWalk(trace, tracker, to ?? null);
  const checkpoints = networks.map(
    ({ transactions: known }) => known && CatalogCheckpoints.of(trace, known.def),
  );
  let last = first;
  function* finished(all: boolean): Generator<TransactionBlock> {
    const tracked = tracker.take(all, MAX_HELD);
    // Without those that ended before the range.
    const wanted = tracked.filter(({ endPs }) => endPs === null || endPs >= from);
    if (wanted.length > 0) yield toTransactionBlock(wanted, network, index, all && last === access.count - 1);
    // Partners must not be kept alive by each other.
    for (const one of tracked) one.handoffs = [];
  }
  for await (const segment of segmentsToWalk(access, first, to, lookahead, () => walk.hasMore)) {
    await turns.next();
    last = segment.index;
    if (segment.index === first) tracker.begin(await access.stateBefore(segment.index));
    else {
      const states = checkpoints.map((one) => one?.at(segment) ?? null);
      tracker.continueFrom(states, segment.header.timeStartPs);
    }
    walk.begin(segment);
    while (walk.run()) yield* finished(false);
    if (walk.isDone) break;
    yield* finished(false);
  }
  yield* finished(true);
}

function requireTransactions(network: NocNetwork) {
  if (network.transactions) return network.transactions;
  throw new UscopeError(
    'READER_NAME',
    `${network.name} has no storage "transactions": the trace follows no transactions of it`,
  );
}
