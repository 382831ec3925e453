/** What a session writes to: the record writer, or in tests something that remembers. */
import type { Schema } from '../format/types.js';
import {
  RecordWriter,
  resumeTrace,
  type SessionEnd,
  type TraceStats,
  type WriterOptions,
} from '../writer/index.js';

export interface TraceSink {
  readonly path: string;
  readonly schema: Schema;
  readonly stats: TraceStats;
  /** Ordinal the next frame must have; frames below `durableFrames` are durable. */
  readonly nextFrame: bigint;
  readonly durableFrames: bigint;
  /** Index the next string must have. */
  readonly nextString: bigint;
  /** True when `ready` would wait. */
  readonly congested: boolean;
  push(words: Uint32Array, first?: number, end?: number): void;
  ready(): Promise<void>;
  restartStream(): void;
  flush(): Promise<void>;
  close(end: SessionEnd): Promise<TraceStats>;
  abortWaiting(): void;
}

export interface SinkFactory {
  create(options: WriterOptions): Promise<TraceSink>;
  /** Goes on with the unfinalized file of that session at the path; null when there is none. */
  resume(options: WriterOptions): Promise<TraceSink | null>;
}

export const fileSinks: SinkFactory = {
  create: (options) => RecordWriter.create(options),
  resume: (options) => resumeTrace(options),
};
