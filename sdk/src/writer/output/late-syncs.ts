/**
 * A file layer for a trace that gets its name only when it is whole: nothing is synced before its close. Segments that wait for the disk would hold
 * up the writer, and take memory, for a file that nobody sees.
 */
import type { OpenOutput, OutputFile } from './output-file.js';

export class LateSyncs {
  private isOver = false;

  /** @param open the layer below */
  constructor(private readonly open: OpenOutput) {}

  readonly openOutput: OpenOutput = async (...target) => {
    const file = await this.open(...target);
    return {
      path: file.path,
      write: (chunks, position) => file.write(chunks, position),
      read: (position, length, memory) => file.read(position, length, memory),
      sync: () => this.sync(file),
      syncDirectory: () => file.syncDirectory(),
      size: () => file.size(),
      truncate: (size) => file.truncate(size),
      close: () => file.close(),
    };
  };

  /** The trace is about to be closed: from here on all syncs are made, in the order of the writer. */
  end(): void {
    this.isOver = true;
  }

  private async sync(file: OutputFile): Promise<void> {
    if (this.isOver) await file.sync();
  }
}
