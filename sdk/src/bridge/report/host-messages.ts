/** Messages between a daemon's process and its supervisor over Node's channel (structured clone, so bigints pass as they are). */
import type { Account, TraceStats } from '../../writer/index.js';
import type { OrphanState } from '../daemon/orphans.js';

export interface TraceName {
  readonly name: string;
  readonly path: string;
  /** Session id in hex. */
  readonly session: string;
}

export interface Failure {
  readonly code: string;
  readonly message: string;
}

export type HostMessage =
  | { readonly type: 'ready'; readonly endpoint: string }
  /** It could not start. */
  | { readonly type: 'refused'; readonly failure: Failure }
  | (TraceName & {
      readonly type: 'opened';
      readonly resumed: boolean;
      readonly periodPs: number;
      /** Core index; null: not one of several. */
      readonly core: number | null;
    })
  | { readonly type: 'stalled'; readonly session: string; readonly failure: Failure | null }
  | { readonly type: 'progress'; readonly traces: readonly TraceProgress[] }
  | (TraceName & {
      readonly type: 'ended';
      readonly stats: TraceStats;
      readonly failure: Failure | null;
      readonly account: Account;
      /** The memory of its client, where that still holds what is not in the file. */
      readonly keptMemory?: string | null;
      readonly reasons: readonly (readonly [code: string, count: bigint])[];
      /** Items left out because their scope was disabled. */
      readonly skipped?: bigint;
    })
  /** A trace was not opened; with `orphan`: what a client that has ended left cannot be finalized, yet or by this daemon. */
  | {
      readonly type: 'trouble';
      readonly name: string;
      readonly failure: Failure;
      readonly orphan?: OrphanState | undefined;
    }
  /** A complete trace has no copy in the other format that its model asked for. */
  | (TraceName & { readonly type: 'uncopied'; readonly failure: Failure })
  /** Everything is finalized; the process ends. */
  | { readonly type: 'done' };

export interface TraceProgress {
  readonly session: string;
  readonly stats: TraceStats;
}

export type SupervisorMessage =
  /** Finalize everything and end. `unfinished`: sessions that an earlier daemon left. */
  | { readonly type: 'finalize'; readonly unfinished: readonly TraceName[] }
  /** Stop waiting for disk space, and for copies in other formats. */
  | { readonly type: 'abort' };

let isKept = false;

/**
 * From now on a line that cannot be written to stderr is lost, and ends nothing: recording continues. The reader of such lines may go first:
 * `uscope serve 2>&1 | head`, a log on a full disk.
 */
export function outliveLog(): void {
  if (isKept) return;
  isKept = true;
  process.stderr.on('error', () => {});
}
