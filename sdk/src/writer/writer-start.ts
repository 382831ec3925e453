/** What a writer continues from: nothing, for a new file, or what was found durable in an unfinalized one. */
import type { SessionInfo } from '../format/session-chunk.js';
import type { StorageState } from '../state/storage-state.js';
import type { SegmentIndexer } from './contract/segment-indexer.js';
import type { SegmentStore } from './file/segment-store.js';
import type { Summarizer } from './frames/summarizer.js';
import type { MemoryAllowance } from './frames/writer-memory.js';

export interface WriterStart {
  readonly store: SegmentStore;
  /** As it was when the writer started. */
  readonly session: SessionInfo;
  /** Blank where `load` is given. */
  readonly state: StorageState;
  /** Brings the state to where it was, a part at a time; see `RecordWriter.open`. */
  readonly load?: (state: StorageState) => Promise<void>;
  readonly summarizer: Summarizer | null;
  readonly nextFrame: number;
  readonly nextString: number;
  readonly items: number;
  /** Time of the last frame in ps; null: none yet. */
  readonly lastTimePs: bigint | null;
  readonly indexer?: SegmentIndexer | null;
  /** What of the process's memory is the writer's; without one, as much as it needs. */
  readonly allowance?: MemoryAllowance | null;
}
