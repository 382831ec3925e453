/** An indexer that may fail: whatever it throws costs the index, never the trace. */
import { isUscopeError, NOTE, UscopeError } from '../base/errors.js';
import type { DutProperties, Schema } from '../format/types.js';
import type {
  IndexedFile,
  IndexOutput,
  SegmentIndexer,
  SegmentIndexerFactory,
  SegmentToIndex,
} from './contract/segment-indexer.js';
import { finalName } from './output/atomic-file.js';

interface IndexOptions {
  /** Of the trace. */
  readonly path: string;
  readonly schema: Schema;
  readonly dut?: DutProperties | undefined;
  readonly index?: SegmentIndexerFactory | null | undefined;
}

/** @param before as of `SegmentIndexerFactory` */
export function openIndexer(options: IndexOptions, before: Uint8Array | null): SegmentIndexer | null {
  const { path, schema, dut = [], index } = options;
  if (!index) return null;
  try {
    const indexer = index(schema, dut, before);
    return indexer && new GuardedIndexer(indexer, path);
  } catch (error) {
    noteLeftOut(error, path);
    return null;
  }
}

/** Without the index of a segment those of later ones do not fit together: after a failure there is none. */
class GuardedIndexer implements SegmentIndexer {
  private hasFailed = false;

  constructor(
    private readonly indexer: SegmentIndexer,
    private readonly path: string,
  ) {}

  async add(segment: SegmentToIndex): Promise<Uint8Array | null> {
    if (this.hasFailed) return null;
    try {
      return await this.indexer.add(segment);
    } catch (error) {
      return this.leaveOut(error);
    }
  }

  toStore(made: Uint8Array | null, segmentBytes: number): Uint8Array | null {
    if (this.hasFailed) return null;
    try {
      return this.indexer.toStore(made, segmentBytes);
    } catch (error) {
      return this.leaveOut(error);
    }
  }

  /** False: it was left out, and what was appended is not to be kept. @throws UscopeError WRITER_*, of the file */
  async directory(file: IndexedFile, output: IndexOutput): Promise<boolean> {
    if (this.hasFailed) return false;
    try {
      return await this.indexer.directory(file, output);
    } catch (error) {
      if (isUscopeError(error) && error.code.startsWith('WRITER_')) throw error;
      this.leaveOut(error);
      return false;
    }
  }

  private leaveOut(error: unknown): null {
    if (!this.hasFailed) noteLeftOut(error, this.path);
    this.hasFailed = true;
    return null;
  }
}

function noteLeftOut(cause: unknown, path: string): void {
  const why = cause instanceof Error ? cause.message : String(cause);
  const detail = `the index cannot be made (${why}); the trace is written whole without it`;
  note(new UscopeError('WRITER_NO_INDEX', detail, { file: finalName(path) }, { cause }));
}

/** Tells a caller what it should know and need not act on: a warning of the process, whose code programs can look for. */
export function note({ code, message }: UscopeError): void {
  process.emitWarning(message, { type: NOTE, code });
}
