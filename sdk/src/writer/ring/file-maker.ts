/** Ordinary files of kept segments: assembled in the spool directory, then given their names. */
import type { UscopeError } from '../../base/errors.js';
import type { SessionInfo } from '../../format/session-chunk.js';
import type { WriterOptions } from '../contract/options.js';
import { type AssemblySource, assemble } from './assembly.js';
import { assemblyPath } from './layout.js';
import { patientOutput } from './patient-output.js';
import { publish, type SpoolFiles } from './spool-files.js';
import type { SpoolUsage } from './spool-usage.js';
import type { SpoolEntry } from './spooled-segment.js';
import { stringsOf } from './string-file.js';
import type { StringKeeper } from './string-keeper.js';

const MIN_GROUP_BYTES = 16 * 1024;
const MAX_GROUP_BYTES = 4 * 1024 * 1024;
const GROUPS_PER_RING = 16;

/** What stays the same for all files of a trace. */
export interface SpoolTrace {
  readonly path: string;
  readonly source: Omit<AssemblySource, 'segments' | 'read' | 'strings'>;
  readonly session: SessionInfo;
  /** Bytes of the header file. */
  readonly headerBytes: number;
}

export interface NewFile {
  /** Names the file while it is assembled. */
  readonly what: string;
  readonly path: string;
  readonly segments: readonly SpoolEntry[];
  readonly session: SessionInfo;
  readonly dut: AssemblySource['dut'];
  /** Segments up to this ordinal are durable in the file. */
  readonly onWritten?: (ordinal: number) => Promise<void>;
}

export class FileMaker {
  private stopped = false;

  constructor(
    private readonly files: SpoolFiles,
    private readonly strings: StringKeeper,
    private readonly usage: SpoolUsage,
    private readonly trace: SpoolTrace,
    private readonly options: WriterOptions,
    private readonly maxBytes: number | undefined,
  ) {}

  /** No more waiting for disk space. */
  stop(): void {
    this.stopped = true;
  }

  /** Durable, with its name, when it resolves; the size. */
  async make({ what, path, segments, session, dut, onWritten }: NewFile): Promise<number> {
    const assembly = assemblyPath(this.files.directory, what);
    await this.files.remove(assembly);
    const { summarizer, index, compressionLevel } = this.options;
    const source: AssemblySource = {
      ...this.trace.source,
      dut,
      segments,
      read: (ordinal) => this.files.readSegment(ordinal),
      strings: () => stringsOf(this.files, this.strings, segments),
    };
    const bytes = await assemble(source, {
      groupBytes: this.groupBytes,
      path: assembly,
      openOutput: patientOutput(this.files.openOutput, (error) => this.stalled(error)),
      session,
      summarizer,
      index,
      compressionLevel,
      onWritten: (ordinal, size) => {
        this.usage.assembling(size);
        return onWritten?.(ordinal);
      },
    });
    this.usage.assembling(bytes);
    await publish(assembly, path);
    return bytes;
  }

  /** Removes what is there of a file that could not be made. */
  async discard(what: string): Promise<void> {
    await this.files.remove(assemblyPath(this.files.directory, what)).catch(() => {});
  }

  /** What is in the file being made is let go from the spool group by group. */
  private get groupBytes(): number | undefined {
    const { maxBytes } = this;
    return (
      maxBytes && Math.min(MAX_GROUP_BYTES, Math.max(MIN_GROUP_BYTES, Math.floor(maxBytes / GROUPS_PER_RING)))
    );
  }

  /** Whether to continue waiting for disk space. */
  private stalled(error: UscopeError | null): boolean {
    if (error && (this.stopped || this.options.onFull !== 'wait')) return false;
    this.options.onStall?.(error);
    return true;
  }
}
