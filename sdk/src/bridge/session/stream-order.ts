/** What is due next from a client: the number of the message, the frame it begins with, and whether something is missing before it. */
import type { UscopeError } from '../../base/errors.js';
import type { DataHeader } from '../wire/data-header.js';
import { sequenceError } from '../wire/session-error.js';

export class StreamOrder {
  private nextSeq = 0n;
  /** The stream has a gap: nothing is taken until the client opens the trace again. */
  outOfStep = true;
  /** Right after a resume messages may begin with frames that are durable already. */
  catchingUp = false;

  restart(): void {
    this.nextSeq = 0n;
    this.outOfStep = false;
    this.catchingUp = true;
  }

  /** The message has been taken before. */
  isRepeated({ seq }: DataHeader): boolean {
    return seq < this.nextSeq;
  }

  /** null: the message is the one that is due. @param nextFrame the frame that is due */
  gapBefore(header: DataHeader, nextFrame: bigint): UscopeError | null {
    if (header.seq !== this.nextSeq)
      return sequenceError(`message ${header.seq} came where ${this.nextSeq} was due`);
    if (header.firstFrame === nextFrame) this.catchingUp = false;
    else if (header.firstFrame > nextFrame || !this.catchingUp) {
      return sequenceError(
        `message ${header.seq} starts at frame ${header.firstFrame} where ${nextFrame} was due`,
      );
    }
    return null;
  }

  /** The message that was due has been read. */
  advance(): void {
    this.nextSeq++;
  }
}
