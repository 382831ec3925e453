/** A file layer that looks at the lock before it writes: a process that was suspended for long may not be the file's writer any more. */
import type { OpenOutput, OutputFile } from './output-file.js';
import type { PathLock } from './path-lock.js';

/** @param lock of the trace; none: nothing is locked */
export function lockedOutput(open: OpenOutput, lock: PathLock | undefined): OpenOutput {
  if (!lock?.check) return open;
  const check = lock.check;
  return async (...target) => {
    await check();
    return new LockedFile(await open(...target), check);
  };
}

class LockedFile implements OutputFile {
  constructor(
    private readonly file: OutputFile,
    private readonly check: () => Promise<void> | undefined,
  ) {}

  get path(): string {
    return this.file.path;
  }

  write(chunks: readonly Uint8Array[], position: number): Promise<void> {
    const late = this.check();
    return late ? late.then(() => this.file.write(chunks, position)) : this.file.write(chunks, position);
  }

  truncate(size: number): Promise<void> {
    const late = this.check();
    return late ? late.then(() => this.file.truncate(size)) : this.file.truncate(size);
  }

  read(position: number, length: number, memory?: Uint8Array): Promise<Uint8Array> {
    return this.file.read(position, length, memory);
  }

  sync(): Promise<void> {
    return this.file.sync();
  }

  syncDirectory(): Promise<void> {
    return this.file.syncDirectory();
  }

  size(): Promise<number> {
    return this.file.size();
  }

  close(): Promise<void> {
    return this.file.close();
  }
}
