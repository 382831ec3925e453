/** What a session writes to: the record writer, or in tests something that remembers. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RECORD_WORDS, recordLength } from '../../format/record.js';
import type { Schema } from '../../format/types.js';
import {
  type AcceptedStats,
  RecordWriter,
  resumeTrace,
  type SessionEnd,
  type TraceStats,
  type WriterOptions,
} from '../../writer/index.js';
import { lockPath, type PathLock } from '../../writer/output/path-lock.js';

export interface TraceSink {
  readonly path: string;
  readonly schema: Schema;
  readonly stats: TraceStats;
  readonly accepted: AcceptedStats;
  /** Ordinal the next frame must have; frames below `durableFrames` are durable. */
  readonly nextFrame: bigint;
  readonly durableFrames: bigint;
  /** Index the next string must have. */
  readonly nextString: bigint;
  /** Where records are best put before they are pushed, each for one message at a time; none: anywhere. */
  readonly windows: readonly Uint8Array[];
  /** True when `ready` would wait. */
  readonly congested: boolean;
  push(words: Uint32Array, first?: number, end?: number): void;
  /** The state is so large that records are better pushed by `pushInTurns`. */
  readonly isLarge: boolean;
  /** As `push`, but may return before the end, with the word to go on at when `ready` has resolved. */
  pushSome(words: Uint32Array, first: number, end: number): number;
  ready(): Promise<void>;
  restartStream(): void;
  flush(): Promise<void>;
  close(end: SessionEnd): Promise<TraceStats>;
  abortWaiting(): void;
  /** Of a file that others can look at: for the next two seconds frames wait less for the end of their segment. */
  hasten?(): void;
}

/** Others have their turn after so long; the time is looked at after this number of words, which may first touch a page each. */
const TURN_MS = 4;
const PIECE_WORDS = 1024 * RECORD_WORDS;

/**
 * Lets others have their turn where a large state is saved, and where records touch much of it. `words` may be where others put theirs meanwhile:
 * what is left is copied first.
 * @throws what `push` and `ready` throw
 */
export async function pushInTurns(sink: TraceSink, words: Uint32Array): Promise<void> {
  let rest = words;
  let began = performance.now();
  for (let at = 0; at < rest.length; ) {
    at = sink.pushSome(rest, at, endOfPiece(rest, at));
    if (!sink.congested && performance.now() - began < TURN_MS) continue;
    if (rest === words) {
      rest = words.slice(at);
      at = 0;
    }
    await (sink.congested ? sink.ready() : nextTurn());
    began = performance.now();
  }
}

/** Behind a whole record, with its payload. */
function endOfPiece(words: Uint32Array, first: number): number {
  let end = first;
  while (end < words.length && end - first < PIECE_WORDS) end += recordLength(words, end);
  return Math.min(end, words.length);
}

export interface SinkFactory {
  create(options: WriterOptions): Promise<TraceSink>;
  /** Goes on with the unfinalized file of that session at the path; null when there is none. */
  resume(options: WriterOptions): Promise<TraceSink | null>;
  /** Keeps every other process from the file. @throws UscopeError WRITER_BUSY */
  lock?(path: string): Promise<PathLock>;
}

/** A resumed trace has its schema in its file. */
export const NO_SCHEMA: Schema = {
  clocks: [],
  scopes: [],
  enums: [],
  storages: [],
  events: [],
  summaryFields: [],
};

export const fileSinks: SinkFactory = {
  create: (options) => RecordWriter.create(options),
  resume: (options) => resumeTrace(options),
  lock: lockPath,
};
