/** A client's memory as its session reads it: messages early, by another thread, or when it is their turn. */
import { UscopeError } from '../../base/errors.js';
import type { DataHeader } from '../wire/data-header.js';
import { messageError } from '../wire/fields.js';
import { ClientMemory } from './client-memory.js';
import type { LaneRecords } from './lane-records.js';
import { type AheadRead, ReadAhead } from './read-ahead.js';
import { pushInTurns, type TraceSink } from './sink.js';

export class SessionMemory {
  /** Agreed with the client: its records may be read from its memory. */
  agreed = false;
  private memory: ClientMemory | null = null;
  private ahead: ReadAhead | null = null;

  constructor(private readonly sessionId: Uint8Array) {}

  /** The client makes its memory when it knows how much it may have: after `opened`. null: it cannot be read here. */
  open(): ClientMemory | null {
    this.memory ??= ClientMemory.open(this.sessionId);
    return this.memory;
  }

  /** Begins to read a message that has come; null: it is read when it is its turn, by `words`. */
  readEarly(header: DataHeader, sink: TraceSink): AheadRead | null {
    const memory = this.agreed ? this.open() : null;
    if (memory === null) return null;
    this.ahead ??= new ReadAhead(memory, sink.windows.slice(1)); // the first is for `words`
    return this.ahead.ask(header);
  }

  /**
   * Valid until the next call.
   * @param window where they are put if they have to be copied; null: where no writer's memory is
   * @throws UscopeError BRIDGE_MESSAGE, BRIDGE_MEMORY
   */
  words({ memoryOffset = 0, payloadSize }: DataHeader, window: Uint8Array | null): Uint32Array {
    if (!this.agreed) throw messageError('data header', 'records in memory that was not agreed on');
    const memory = this.open();
    if (memory === null)
      throw new UscopeError('BRIDGE_MEMORY', "the client's shared memory cannot be read here");
    return memory.words(memoryOffset, payloadSize, window);
  }

  /**
   * What a dead client recorded and did not send: the last cycles before a crash are the ones people need. Everything received is taken
   * already, so the frames that are new are those from the sink's next one on.
   */
  async takeRemains(memory: ClientMemory, lanes: LaneRecords, sink: TraceSink): Promise<void> {
    sink.restartStream();
    lanes.restart();
    for (const { offset, size } of memory.remains()) {
      // Others read records while this waits.
      const words = memory.words(offset, size, new Uint8Array(size));
      for (const piece of lanes.unfold(words)) await pushInTurns(sink, piece);
      await sink.ready();
    }
  }

  /** Nothing is read for a message any more; resolves when no thread is at it. Only then the sink, whose windows they are, may be closed. */
  async endReads(): Promise<void> {
    this.agreed = false;
    await this.ahead?.close();
  }

  /** After `endReads`. @param remove nothing in it is needed any longer */
  close(remove: boolean): void {
    if (remove) this.memory?.remove();
    this.memory?.close();
    this.memory = this.ahead = null;
  }
}
