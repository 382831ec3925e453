/** What a session gets from the daemon: its settings, and the connection of its client. */
import type { MemoryGrant } from '../memory/memory-account.js';
import type { RecordsGrant } from '../memory/records-grant.js';
import type { DaemonMessage } from '../wire/protocol.js';
import type { Pace } from './durability.js';

/** A client's connection as one trace sees it; a new one with every `opened`. */
export interface SessionLink {
  readonly trace: number;
  readonly epoch: number;
  send(message: DaemonMessage): void;
}

/** What stays the same for the life of a session. */
export interface SessionInit {
  readonly id: Uint8Array;
  readonly name: string;
  /** Core index; absent: not one of several. */
  readonly core?: number | undefined;
  readonly intervalPs: bigint;
  /** Agreed bytes the client may have unacknowledged. */
  readonly credit: number;
  /** When the file is synced, where that may be put off. */
  readonly pace?: Pace | undefined;
  /** What of the daemon's memory is the session's. */
  readonly grant?: MemoryGrant | undefined;
  /** The same for records that the client sends. */
  readonly records?: RecordsGrant | undefined;
}
