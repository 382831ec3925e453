/**
 * What `uscope convert`, `info`, `dump`, `events` and `stats` know about a foreign format. Each format lives in a separate folder
 * (formats/NAME): a codec that knows nothing of µScope, a mapping in each direction, and `format.ts`, which offers them under this
 * interface. `registry.ts` lists the formats and loads them when they are needed.
 */

import { concatBytes } from '../../base/bytes.js';
import type { CompressionName } from '../../format/types.js';
import type { Source, Trace } from '../../reader/index.js';
import type { TraceStats } from '../../writer/index.js';
import type { ConversionReport } from './report.js';

/**
 * Bytes of a file's beginning that `sniff` is given, fewer for a shorter file: all formats are asked with the first size, then with the next.
 * A log may begin with other output. After the first size, what gzip or zstd packed comes unpacked.
 */
export const SNIFF_STEPS: readonly number[] = [4096, 64 * 1024, 1024 * 1024];

/** An option of a format on the command line: `--opt NAME=VALUE`. */
export interface FormatOption {
  readonly name: string;
  /** For the help text: what it does, its values, its default. */
  readonly help: string;
  readonly direction: 'import' | 'export' | 'both';
}

export interface ConversionContext {
  /** Values of the format's options; the caller has refused names that the format does not list. */
  readonly options: ReadonlyMap<string, string>;
  readonly report: ConversionReport;
  /** Called now and then with the part of the input that is done, 0 to 1. */
  readonly onProgress?: ((part: number) => void) | undefined;
  /** Something odd that the user should know and that is not an error; once per kind. */
  readonly onWarning?: ((message: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One output file. Its bytes reach the disk in order of the calls; the caller awaits each. */
export interface ByteOutput {
  /** Appends. The array may be reused once the promise has resolved. */
  write(bytes: Uint8Array): Promise<void>;
  /** Replaces bytes written before (a header that is complete only at the end). */
  patch(offset: number, bytes: Uint8Array): Promise<void>;
  /** Bytes appended so far. */
  readonly length: number;
}

/** Where an export puts its files: `-o OUT` for the one output, or one file per part (core, hart, scope). */
export interface OutputFiles {
  /**
   * The one output (`part` null), or the one of a part: OUT with `.PART` before its extensions. Files appear under their names when the
   * export has succeeded as a whole. @throws UscopeError WRITER_EXISTS
   */
  open(part: string | null): Promise<ByteOutput>;
}

/** Where an import puts its trace. */
export interface TraceTarget {
  readonly path: string;
  readonly compression?: CompressionName | undefined;
  readonly checkpointIntervalPs?: bigint | undefined;
}

/** A titled list of facts: what `uscope info` prints of a foreign file. */
export interface InfoSection {
  readonly title: string;
  readonly rows: readonly (readonly [key: string, value: string])[];
}

export interface DumpOptions {
  /** One JSON object per line instead of text. */
  readonly json: boolean;
}

/** An event of a foreign file, for `uscope events`. */
export interface ForeignEvent {
  /** In `timeUnit`s of the file. */
  readonly time: bigint;
  readonly type: string;
  readonly fields: readonly (readonly [name: string, value: string | bigint | number | boolean])[];
}

/** A foreign file, open for reading. Its memory is bounded whatever its size. The source is closed by the code that opened it. */
export interface ForeignTrace {
  /** Format and version, for people: `FTR 1 (LZ4)`. */
  readonly description: string;
  /** What `ForeignEvent.time` counts: `ps`, `cycles`, `instructions`, `ns`. */
  readonly timeUnit: string;
  /** True when the file ended early: what was read is right, more was there. Known once a whole pass is done. */
  readonly isPartial: boolean;
  info(context: ConversionContext): Promise<readonly InfoSection[]>;
  /** Every record, in file order, a line each (without newline). */
  dump(options: DumpOptions): AsyncIterable<string>;
  /** Absent where the format has no notion of an event. */
  events?(): AsyncIterable<ForeignEvent>;
  /** Absent where there is nothing to add up. */
  stats?(context: ConversionContext): Promise<readonly InfoSection[]>;
  /** A map for `--map`, proposed from what the file holds. Absent where none is needed. */
  guess?(): Promise<string>;
  /** Writes the trace as µScope. @throws UscopeError CONVERT_*, WRITER_* */
  toUscope(target: TraceTarget, context: ConversionContext): Promise<TraceStats>;
}

export interface ForeignFormat {
  /** Lower case, as in `--to NAME`. */
  readonly name: string;
  readonly title: string;
  /** With the dot, the usual one first: `.stf`, `.zstf`. Used for outputs only: inputs are sniffed. */
  readonly extensions: readonly string[];
  readonly options: readonly FormatOption[];
  /**
   * Whether a file that begins like this is one. `head` has a length of SNIFF_STEPS and ends anywhere; it may be compressed data of a
   * container the format knows. A text format looks for its first line in all of `head` (`sniffText`), not only in its first lines.
   */
  sniff?(head: Uint8Array): boolean | Promise<boolean>;
  /** Absent: the format can only be written. @throws UscopeError CONVERT_* */
  open?(source: Source, options: ReadonlyMap<string, string>): Promise<ForeignTrace>;
  /** µScope to this format. Absent: the format can only be read. `extension` is that of OUT (`.zstf`). */
  write?(trace: Trace, files: OutputFiles, extension: string, context: ConversionContext): Promise<void>;
}

/** An output in memory: for small files and tests. */
export class MemoryOutput implements ByteOutput {
  private readonly pieces: Uint8Array[] = [];
  private readonly patches: (readonly [number, Uint8Array])[] = [];

  length = 0;

  async write(bytes: Uint8Array): Promise<void> {
    this.pieces.push(new Uint8Array(bytes));
    this.length += bytes.length;
  }

  async patch(offset: number, bytes: Uint8Array): Promise<void> {
    this.patches.push([offset, new Uint8Array(bytes)]);
  }

  /** What was written, patched. */
  get bytes(): Uint8Array {
    const all = concatBytes(this.pieces);
    for (const [offset, bytes] of this.patches) all.set(bytes, offset);
    return all;
  }
}
