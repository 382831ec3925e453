/** What a client that is gone has left in its memory: whether the file has all of it, and whether the memory must be kept. */
import type { UscopeError } from '../../base/errors.js';
import { asUscopeError } from '../wire/session-error.js';
import type { LaneRecords } from './lane-records.js';
import type { SessionAccount } from './session-account.js';
import type { SessionMemory } from './session-memory.js';
import type { TraceSink } from './sink.js';

export class ClientRemains {
  /** Everything in the memory has been taken. */
  isDrained = false;
  /** Nothing more can be taken from there. */
  private isUseless = false;

  constructor(
    private readonly memory: SessionMemory,
    private readonly count: SessionAccount,
  ) {}

  /** Takes what the client recorded and did not send, if it has ended. @returns what is wrong with it */
  async drain(lanes: LaneRecords, sink: TraceSink): Promise<UscopeError | null> {
    const memory = this.memory.open();
    if (!memory?.isAbandoned) return null;
    try {
      this.count.salvages(sink.nextFrame);
      await this.memory.takeRemains(memory, lanes, sink);
      this.isDrained = true;
      return null;
    } catch (error) {
      const failure = asUscopeError(error);
      // Records that a dying simulator wrote over; a full disk is another matter.
      this.isUseless = failure.code === 'BRIDGE_RECORD' || failure.code === 'BRIDGE_MESSAGE';
      return failure;
    }
  }

  /** Counts the frames that the memory says were completed. @param failure of the session */
  inspect(failure: UscopeError | null): void {
    this.count.inspect(this.memory.open(), this.areKept(failure));
  }

  /** After `endReads` of the memory: removes it, unless it holds what the file does not. */
  close(failure: UscopeError | null): void {
    this.memory.close(this.isUseless || (this.isDrained && failure === null));
  }

  /** Of a session that has ended. @returns whether the client has ended too, so that the number of its frames is known */
  settle(failure: UscopeError | null): boolean {
    const memory = this.memory.open();
    const isOver = memory?.isAbandoned === true;
    if (isOver) this.count.inspect(memory, this.areKept(failure));
    this.memory.close(false);
    return isOver;
  }

  /** As clients do, unless everything in it is durable or has been refused. */
  private areKept(failure: UscopeError | null): boolean {
    const isTaken = this.isDrained && failure === null;
    return !isTaken && !this.isUseless && failure?.code !== 'BRIDGE_RECORD';
  }
}
