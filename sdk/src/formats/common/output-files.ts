/** The files an export writes: under temporary names until all of them are whole. */
import { basename, dirname, join } from 'node:path';
import { UscopeError } from '../../base/errors.js';
import { type AtomicOptions, Draft } from '../../writer/output/atomic-file.js';
import { type OutputFile, openNodeOutput } from '../../writer/output/output-file.js';
import type { ByteOutput, OutputFiles } from './foreign-format.js';

/** Small writes are gathered up to this many bytes. */
const BUFFER_BYTES = 256 * 1024;

interface Entry {
  readonly path: string;
  readonly draft: Draft;
  readonly output: BufferedOutput;
}

export class ExportFiles implements OutputFiles {
  private readonly entries: Entry[] = [];

  /** @param extension what `path` ends with, after which no part is written: `.stf.gz` */
  constructor(
    private readonly path: string,
    private readonly extension: string,
    private readonly options: AtomicOptions,
  ) {}

  async open(part: string | null): Promise<ByteOutput> {
    const path = part === null ? this.path : this.pathOf(part);
    if (this.entries.some((entry) => entry.path === path)) {
      throw new UscopeError('WRITER_EXISTS', 'two parts of the output would have this name', { file: path });
    }
    const draft = await Draft.begin(path, this.options);
    try {
      const output = new BufferedOutput(await openNodeOutput(draft.temporary, 'create'));
      this.entries.push({ path, draft, output });
      return output;
    } catch (error) {
      await draft.discard();
      throw draft.named(error);
    }
  }

  /** Makes everything durable and gives the files their names. @returns paths, in the order of `open` */
  async finish(): Promise<{ path: string; bytes: number }[]> {
    for (const { output } of this.entries) await output.close();
    for (const { draft } of this.entries) await draft.publish();
    return this.entries.map(({ path, output }) => ({ path, bytes: output.length }));
  }

  /** Removes all files. */
  async abandon(): Promise<void> {
    for (const { draft, output } of this.entries) {
      await output.abandon();
      await draft.discard();
    }
  }

  private pathOf(part: string): string {
    const name = basename(this.path);
    const stem = name.endsWith(this.extension) ? name.slice(0, name.length - this.extension.length) : name;
    const safe = part.replace(/[^A-Za-z0-9_.-]+/g, '_').replace(/^[._]+/, '') || 'part';
    return join(dirname(this.path), `${stem}.${safe}${name.slice(stem.length)}`);
  }
}

/** Gathers small writes. */
class BufferedOutput implements ByteOutput {
  private readonly buffer = new Uint8Array(BUFFER_BYTES);
  private used = 0;
  /** Bytes handed to the file. */
  private written = 0;

  constructor(private readonly file: OutputFile) {}

  get length(): number {
    return this.written + this.used;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.used + bytes.length > BUFFER_BYTES) await this.flush();
    if (bytes.length > BUFFER_BYTES) {
      await this.file.write([bytes], this.written);
      this.written += bytes.length;
      return;
    }
    this.buffer.set(bytes, this.used);
    this.used += bytes.length;
  }

  async patch(offset: number, bytes: Uint8Array): Promise<void> {
    if (offset < 0 || offset + bytes.length > this.length) {
      throw new UscopeError('WRITER_IO', `bytes ${offset} to ${offset + bytes.length} were never written`);
    }
    await this.flush();
    await this.file.write([bytes], offset);
  }

  async close(): Promise<void> {
    await this.flush();
    await this.file.sync();
    await this.file.close();
  }

  async abandon(): Promise<void> {
    // It may be closed already: nothing of it is kept anyway.
    await this.file.close().catch(() => undefined);
  }

  private async flush(): Promise<void> {
    if (this.used === 0) return;
    await this.file.write([this.buffer.subarray(0, this.used)], this.written);
    this.written += this.used;
    this.used = 0;
  }
}
