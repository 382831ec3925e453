/** Collects SNAPSHOT records (docs/reference/bridge-protocol.md#records) until the frame they precede, whose checkpoint they become part of. */
import { UscopeError } from '../../base/errors.js';
import { payloadRecords } from '../../format/record.js';
import { BlockLoad } from '../../state/checkpoint-load.js';
import { snapshotSize } from '../../state/checkpoint-state.js';
import type { Steps } from '../../state/steps.js';
import type { StorageState } from '../../state/storage-state.js';
import { recordError } from './frame-checker.js';

interface Collected {
  readonly bytes: Uint8Array;
  received: number;
}

export class SnapshotCollector {
  private readonly storages = new Map<number, Collected>();

  get isEmpty(): boolean {
    return this.storages.size === 0;
  }

  clear(): void {
    this.storages.clear();
  }

  /** Takes one part; returns the words of record and payload. @throws UscopeError OP_STORAGE, OP_SNAPSHOT, BRIDGE_RECORD */
  take(words: Uint32Array, record: number, endWord: number, state: StorageState): number {
    const storage = words[record] >>> 16;
    const size = words[record + 1];
    const offset = words[record + 2];
    const total = words[record + 3];
    const length = 4 + payloadRecords(size) * 4;
    if (record + length > endWord) throw recordError('a snapshot part does not end inside its message');
    const { layout } = state;
    if (storage >= layout.numStorages)
      throw new UscopeError(
        'OP_STORAGE',
        `snapshot of storage id ${storage}, which the schema does not define`,
      );
    if (total > snapshotSize(layout, storage, layout.numSlots[storage])) {
      throw new UscopeError(
        'OP_SNAPSHOT',
        `snapshot of "${layout.schema.storages[storage].name}" claims ${total} bytes, more than the storage has`,
      );
    }
    let collected = this.storages.get(storage);
    if (offset === 0) {
      collected = { bytes: new Uint8Array(total), received: 0 };
      this.storages.set(storage, collected);
    }
    if (
      !collected ||
      offset !== collected.received ||
      total !== collected.bytes.length ||
      offset + size > total
    ) {
      throw recordError(`snapshot part at ${offset} of ${size} bytes does not continue the one before`);
    }
    collected.bytes.set(
      new Uint8Array(words.buffer as ArrayBuffer, words.byteOffset + (record + 4) * 4, size),
      offset,
    );
    collected.received += size;
    return length;
  }

  /**
   * By storage, the steps that put its snapshot into the state; nothing is collected any more then.
   * @throws UscopeError OP_SNAPSHOT when one is incomplete or has the wrong size
   */
  loads(state: StorageState): Map<number, Steps> {
    const loads = [...this.storages].map(([id, collected]) => [id, loadOf(state, id, collected)] as const);
    this.clear();
    return new Map(loads);
  }
}

function loadOf(state: StorageState, id: number, { bytes, received }: Collected): Steps {
  const { name } = state.layout.schema.storages[id];
  if (received !== bytes.length)
    throw new UscopeError('OP_SNAPSHOT', `snapshot of "${name}" has ${received} of ${bytes.length} bytes`);
  try {
    return new BlockLoad(state, id, bytes, new DataView(bytes.buffer), 0, bytes.length, 0, false);
  } catch (cause) {
    throw new UscopeError('OP_SNAPSHOT', `snapshot of "${name}" does not fit the storage`, {}, { cause });
  }
}
