/** A copy of a trace in another format, made by a process of `uscope convert`: the daemon continues with its other traces. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { UscopeError } from '../../base/errors.js';

const BIN = fileURLToPath(new URL('../../../bin/uscope.js', import.meta.url));

/** @throws UscopeError CONVERT_SOURCE */
export function copyTrace(path: string, output: string, signal: AbortSignal): Promise<void> {
  const args = [BIN, 'convert', path, '-o', output, '--force'];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { signal }, (error, _out, said) => {
      if (!error) resolve();
      else reject(new UscopeError('CONVERT_SOURCE', `no copy was made: ${said.trim() || error.message}`));
    });
  });
}
