/** A file layer that waits for disk space: what was written already need not be written again. */
import { UscopeError } from '../../base/errors.js';
import type { OpenOutput, OutputFile } from '../output/output-file.js';

const RETRY_MS = 500;

/** @param onFull the disk is full (an error), or has room again (null); returns whether to continue waiting */
export function patientOutput(open: OpenOutput, onFull: (error: UscopeError | null) => boolean): OpenOutput {
  return async (...target) => {
    const file = await open(...target);
    const write: OutputFile['write'] = async (chunks, position) => {
      for (let isFull = false; ; isFull = true) {
        try {
          await file.write(chunks, position);
          if (isFull) onFull(null);
          return;
        } catch (error) {
          if (!(error instanceof UscopeError) || error.code !== 'WRITER_DISK_FULL' || !onFull(error))
            throw error;
          await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        }
      }
    };
    return {
      path: file.path,
      write,
      read: (position, length, memory) => file.read(position, length, memory),
      sync: () => file.sync(),
      syncDirectory: () => file.syncDirectory(),
      size: () => file.size(),
      truncate: (size) => file.truncate(size),
      close: () => file.close(),
    };
  };
}
