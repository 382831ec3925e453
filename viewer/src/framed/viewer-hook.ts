/** A viewer in a frame, as pages with several of them drive it: what its page offers to scripts (page/main.tsx). */
import type { TraceInfo } from '../data/protocol.js';
import type { SceneState } from '../drawing/protocol.js';
import type { Settings } from '../drawing/settings.js';
import type { Command } from '../model/commands.js';
import type { RowDetails } from '../model/row.js';
import type { TransactionAnswer, TransactionArgs } from '../model/transactions.js';

export interface ViewerHook {
  state(): SceneState | null;
  info(): TraceInfo | null;
  settings(): Settings;
  /** Gives stages the colours of this order. */
  orderStages(names: readonly string[]): void;
  /** What is after `#` in the address. */
  link(): string;
  run(command: Command): void;
  describe(row: number): Promise<RowDetails | null>;
  /** null: the trace is not open yet. */
  askTransactions(args: TransactionArgs): Promise<TransactionAnswer> | null;
}

/** null: its page is not there yet. */
export const hookOf = (frame: HTMLIFrameElement): ViewerHook | null =>
  (frame.contentWindow as unknown as { __uscope?: ViewerHook } | null)?.__uscope ?? null;

/** Parts of a link that say where one is in a trace, and what is marked there. */
const OF_ONE_TRACE = ['core', 'view', 'row', 'at', 'cycles', 'c', 'range', 'b', 'search', 'watch'];

/** Makes a viewer draw as another one does; where each is stays. */
export function shareSettings(from: HTMLIFrameElement, to: HTMLIFrameElement): void {
  const [leader, follower] = [hookOf(from), hookOf(to)];
  if (!leader || !follower) return;
  const own = new URLSearchParams(follower.link());
  const link = new URLSearchParams(leader.link());
  for (const key of OF_ONE_TRACE) {
    link.delete(key);
    for (const text of own.getAll(key)) link.append(key, text);
  }
  applyLink(to, link);
}

/** Makes a viewer show what a link says. */
export function applyLink({ contentWindow }: HTMLIFrameElement, link: URLSearchParams): void {
  if (!contentWindow) return;
  // A part of an address would belong to this page's own.
  const url = new URL(contentWindow.location.href);
  url.hash = String(link);
  contentWindow.location.replace(url.href);
}
