/** What a spool takes on disk, and what the file that would be made of it would take. */
import { summaryBudget } from '../frames/summarizer.js';
import { onDisk, type SpoolEntry } from './spooled-segment.js';
import type { StringKeeper } from './string-keeper.js';

export class SpoolUsage {
  private liveBytes = 0;
  /** Of their strings in the string table of a finalized file. */
  private repeatedBytes = 0;
  private heldBytes = 0;
  private assemblyBytes = 0;
  private peakBytes = 0;

  /** @param headerBytes of the header file */
  constructor(
    private readonly strings: StringKeeper,
    private readonly headerBytes: number,
  ) {}

  /** Of the segments kept. */
  get live(): number {
    return this.liveBytes;
  }

  get disk(): number {
    return this.kept + this.heldBytes + this.assemblyBytes;
  }

  get peak(): number {
    return this.peakBytes;
  }

  /** What the bound is about: the file that would be made of what is kept has string table and summary besides. */
  get file(): number {
    return this.kept + this.repeatedBytes + this.strings.size + summaryBudget(this.liveBytes);
  }

  private get kept(): number {
    return this.liveBytes + onDisk(this.strings.size) + onDisk(this.headerBytes);
  }

  add(entries: readonly SpoolEntry[]): void {
    for (const { bytes, stringBytes } of entries) {
      this.liveBytes += bytes;
      this.repeatedBytes += stringBytes;
    }
  }

  letGo({ bytes, stringBytes }: SpoolEntry): void {
    this.liveBytes -= bytes;
    this.repeatedBytes -= stringBytes;
  }

  hold({ bytes }: SpoolEntry): void {
    this.heldBytes += bytes;
  }

  drop({ bytes }: SpoolEntry): void {
    this.heldBytes -= bytes;
  }

  /** A file is being made, which has this number of bytes. */
  assembling(bytes: number): void {
    this.assemblyBytes = onDisk(bytes);
    this.measure();
  }

  /** The file has its name now, or is gone. */
  assembled(): void {
    this.assemblyBytes = 0;
  }

  /** Notes the most there has been. @param more bytes besides */
  measure(more = 0): void {
    this.peakBytes = Math.max(this.peakBytes, this.disk + more);
  }
}
