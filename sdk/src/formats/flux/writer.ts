/** Writing flux: linear, in compressed blocks, or as a ring buffer; one or more traces in a file. */
import { minOf } from '../../base/arrays.js';
import { UscopeError } from '../../base/errors.js';
import type { BlockCompression } from './blocks.js';
import { encodeEntry } from './encode.js';
import {
  CompressedBuffer,
  type FluxBuffer,
  type FluxOutput,
  LinearBuffer,
  RingBuffer,
  type RingShape,
} from './outputs.js';
import { DEFAULT_MAX_ENTRY_SIZE, type FluxHead, FluxTraceWriter } from './trace-writer.js';
import { FluxTag, MAX_ENTRY_SIZE } from './types.js';

export interface FluxWriterOptions {
  /** Default none. */
  readonly compress?: BlockCompression | 'none' | undefined;
  /** Bytes of entries in a compressed block at most; default 64 KiB, and no more than the heads' `maxEntrySize`. */
  readonly blockBytes?: number | undefined;
}

/**
 *     const file = new FluxWriter(output, { compress: 'lz4' });
 *     const core = file.trace({ traceId: 0, name: 'core0' });
 *     core.entry({ tag: FluxTag.SIGD, id: 1, parent: 0, name: 'pc', description: '', type: FluxType.INTEGER, descriptor: '' });
 *     core.open(0, 'ps', 0n);
 *     for (const [time, pc] of values) {
 *       core.integer(1, time, pc);
 *       if (file.isFull) await file.flush();
 *     }
 *     core.close(0, end);
 *     await file.close();
 */
export class FluxWriter {
  readonly traces: FluxTraceWriter[] = [];
  /** @internal Trace that the next entry belongs to unless a switch comes before it. */
  current: FluxTraceWriter | null = null;
  /** @internal */
  buffer: FluxBuffer;
  private readonly linear = new LinearBuffer();
  private isClosed = false;

  constructor(
    private readonly output: FluxOutput,
    private readonly options: FluxWriterOptions = {},
  ) {
    this.buffer = this.linear;
  }

  /** Whether `flush` is due. */
  get isFull(): boolean {
    return this.linear.isFull;
  }

  /** Begins a trace. @throws UscopeError CONVERT_SOURCE beyond what viewers take */
  trace(head: FluxHead): FluxTraceWriter {
    const trace = new FluxTraceWriter(this, head);
    this.traces.push(trace);
    this.current = trace;
    encodeEntry(this.buffer, trace.head, MAX_ENTRY_SIZE);
    return trace;
  }

  /**
   * From here on only the newest entries are kept, in a ring of the given size; heads and definitions precede it.
   * @throws UscopeError CONVERT_OPTION for a size that gives no sections, or with compression
   */
  ring(shape: RingShape): void {
    if (this.buffer !== this.linear || (this.options.compress ?? 'none') !== 'none') {
      throw new UscopeError('CONVERT_OPTION', 'a ring buffer is not compressed: choose one of the two');
    }
    this.buffer = new RingBuffer(this.linear, shape, (buffer) => this.tellPositions(buffer));
  }

  /** Hands what is waiting to the output. */
  async flush(): Promise<void> {
    await this.linear.flush(this.output);
  }

  /** Ends the file: a ring buffer is written now. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    if (this.buffer !== this.linear) this.buffer.end();
    this.linear.end();
    await this.flush();
  }

  /** @internal */
  select(trace: FluxTraceWriter): void {
    if (this.current === trace) return;
    this.current = trace;
    encodeEntry(this.buffer, { tag: FluxTag.SWTH, traceId: trace.id }, MAX_ENTRY_SIZE);
  }

  /** @internal Heads at the beginning precede compressed blocks. */
  start(): void {
    const { compress = 'none', blockBytes = DEFAULT_MAX_ENTRY_SIZE } = this.options;
    if (compress === 'none' || this.buffer !== this.linear) return;
    const most = minOf(
      this.traces.map(({ maxEntrySize }) => maxEntrySize),
      blockBytes,
    );
    this.buffer = new CompressedBuffer(this.linear, compress, most);
  }

  /** The start of a section: what was before may be gone. */
  private tellPositions(buffer: FluxBuffer): void {
    const several = this.traces.length > 1;
    for (const trace of this.traces) {
      if (several) encodeEntry(buffer, { tag: FluxTag.SWTH, traceId: trace.id }, MAX_ENTRY_SIZE);
      for (const group of trace.state.groups.values()) {
        encodeEntry(buffer, { tag: FluxTag.CURR, id: group.id, position: group.position }, MAX_ENTRY_SIZE);
      }
    }
    const { current } = this;
    if (several && current && current !== this.traces[this.traces.length - 1]) {
      encodeEntry(buffer, { tag: FluxTag.SWTH, traceId: current.id }, MAX_ENTRY_SIZE);
    }
  }
}
