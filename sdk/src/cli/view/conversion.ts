/** A file of another format, converted for the viewer while its page is open already. */
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isUscopeError } from '../../base/errors.js';
import { convert, type ForeignFormat, USCOPE } from '../../formats/index.js';
import { openSource } from '../../reader/node.js';
import { type Opening, type OpeningStatus, type OpenTrace, openServedTrace } from '../../view/index.js';
import { scratchDirectory } from '../../writer/output/directories.js';
import { warnOnce } from '../common/foreign.js';
import { io } from '../common/io.js';
import { withProgress } from '../common/progress-bar.js';
import { type CachedTrace, ConversionCache, cacheDirectory, conversionKey } from './conversion-cache.js';

/** What the user says of files that are not traces. */
export interface ConversionWishes {
  /** The converted trace is kept for the next time. */
  readonly keeps: boolean;
  /** The format of the file, where it is named. */
  readonly from: string | undefined;
}

export class Conversion implements Opening {
  private current: OpeningStatus;
  private opened: OpenTrace | null = null;
  private converted: string | null = null;
  /** Of a trace that is not kept. */
  private scratch: string | null = null;

  constructor(
    private readonly file: string,
    private readonly format: ForeignFormat,
    readonly name: string,
    private readonly keeps: boolean,
  ) {
    this.current = { state: 'converting', format: format.title, part: 0 };
  }

  status(): OpeningStatus {
    return this.current;
  }

  trace(): OpenTrace | null {
    return this.opened;
  }

  /** Of the converted trace; null: it is not there yet. */
  get path(): string | null {
    return this.converted;
  }

  /** @throws UscopeError CONVERT_*, WRITER_*; the reason of the signal; the page hears of it too */
  async run(signal: AbortSignal): Promise<void> {
    try {
      const { path, isCut } = await this.find(signal);
      this.opened = await openServedTrace(path, { name: this.name, followsLinks: false });
      this.converted = path;
      this.current = { state: 'ready', isCut };
    } catch (error) {
      const [code, what] = isUscopeError(error)
        ? [error.code, error.detail]
        : ['VIEW_FAILED', error instanceof Error ? error.message : String(error)];
      this.current = { state: 'failed', code, what };
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.opened?.close();
    if (this.scratch !== null) await rm(this.scratch, { recursive: true, force: true });
  }

  /** Kept from an earlier time, or made. */
  private async find(signal: AbortSignal): Promise<CachedTrace> {
    if (!this.keeps) return this.makeOnce(signal);
    const cache = new ConversionCache(cacheDirectory());
    const key = await conversionKey(this.file, this.format.name);
    const kept = await cache.find(key);
    if (kept) return kept;
    const path = await cache.prepare(key).catch((error: Error) => {
      io.err(`uscope: warning: the converted trace is not kept: ${error.message}`);
      return null;
    });
    if (path === null) return this.makeOnce(signal);
    const isCut = await this.make(path, signal);
    const final = isCut ? cache.pathOfCut(path) : path;
    if (isCut) await rename(path, final);
    await cache.trim(final);
    return { path: final, isCut };
  }

  private async makeOnce(signal: AbortSignal): Promise<CachedTrace> {
    this.scratch = await scratchDirectory('uscope-view');
    const path = join(this.scratch, 'converted.uscope');
    return { path, isCut: await this.make(path, signal) };
  }

  /** @returns the file ended early */
  private async make(output: string, signal: AbortSignal): Promise<boolean> {
    const { file, format } = this;
    const source = await openSource(file);
    try {
      const { isPartial } = await withProgress(`converting ${format.title}`, (onBar) =>
        convert({
          ...{ input: file, source, from: format, to: USCOPE, output, extension: '.uscope' },
          ...{ options: new Map(), force: true, onWarning: warnOnce(file), signal },
          onProgress: (part) => {
            this.current = { state: 'converting', format: format.title, part };
            onBar(part);
          },
        }),
      );
      return isPartial;
    } finally {
      await source.close?.();
    }
  }
}
