/**
 * How often the disk is made to keep what it was given (docs/explanation/durability.md): a layer between the writer and the file system. The writer
 * itself knows one order of writes and syncs; the layer decides when a sync of data may begin, or that there is none.
 */
import { HEADER_SIZE } from '../../format/header.js';
import { type OpenOutput, type OutputFile, openNodeOutput } from '../../writer/index.js';

/**
 * `segment`: every group of segments is synced at once. `interval`: at most one group in `ms` milliseconds. `none`: nothing is synced;
 * what is acknowledged survives the end of every process, not that of the machine.
 */
export type Durability =
  | { readonly mode: 'segment' }
  | { readonly mode: 'interval'; readonly ms: number }
  | { readonly mode: 'none' };

/** The pace of one trace's syncs. */
export interface Pace {
  readonly openOutput: OpenOutput;
  /** Somebody waits: the sync that is due next is not put off. */
  hurry(): void;
  /** None is put off any more. */
  end(): void;
}

/** @param open the layer below */
export function paceOf(durability: Durability, open: OpenOutput = openNodeOutput): Pace {
  if (durability.mode === 'segment') return { openOutput: open, hurry() {}, end() {} };
  if (durability.mode === 'none') {
    return { openOutput: async (...file) => withoutSync(await open(...file)), hurry() {}, end() {} };
  }
  const turns = new Turns(durability.ms);
  return {
    openOutput: async (...file) => new PacedFile(await open(...file), turns),
    hurry: () => turns.hurry(),
    end: () => turns.end(),
  };
}

/** Calls of `next` resolve at least `ms` apart, unless somebody is in a hurry. */
class Turns {
  private last = Number.NEGATIVE_INFINITY;
  private isHurried = false;
  private isOver = false;
  private wake: (() => void) | null = null;

  constructor(private readonly ms: number) {}

  async next(): Promise<void> {
    const wait = this.last + this.ms - performance.now();
    if (wait > 0 && !this.isHurried && !this.isOver) await this.sleep(wait);
    this.isHurried = false;
    this.last = performance.now();
  }

  hurry(): void {
    this.isHurried = true;
    this.wake?.();
  }

  end(): void {
    this.isOver = true;
    this.wake?.();
  }

  private sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.wake = null;
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.wake = done;
    });
  }
}

/** Syncs of segments take their turn; those that only make the header's new numbers durable follow at once. */
class PacedFile implements OutputFile {
  private hasData = false;

  constructor(
    private readonly file: OutputFile,
    private readonly turns: Turns,
  ) {}

  get path(): string {
    return this.file.path;
  }

  write(chunks: readonly Uint8Array[], position: number): Promise<void> {
    if (position >= HEADER_SIZE) this.hasData = true;
    return this.file.write(chunks, position);
  }

  async sync(): Promise<void> {
    if (this.hasData) await this.turns.next();
    this.hasData = false;
    await this.file.sync();
  }

  read(position: number, length: number): Promise<Uint8Array> {
    return this.file.read(position, length);
  }

  syncDirectory(): Promise<void> {
    return this.file.syncDirectory();
  }

  size(): Promise<number> {
    return this.file.size();
  }

  truncate(size: number): Promise<void> {
    return this.file.truncate(size);
  }

  close(): Promise<void> {
    return this.file.close();
  }
}

function withoutSync(file: OutputFile): OutputFile {
  return {
    path: file.path,
    write: (chunks, position) => file.write(chunks, position),
    read: (position, length) => file.read(position, length),
    sync: async () => {},
    syncDirectory: async () => {},
    size: () => file.size(),
    truncate: (size) => file.truncate(size),
    close: () => file.close(),
  };
}
