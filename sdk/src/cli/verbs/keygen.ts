/** `uscope keygen`: a pair of keys for an encrypted connection. */
import type { Command } from 'commander';
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { PRIVATE_MODE } from '../../base/file-mode.js';
import { keyFile } from '../../bridge/wire/key-files.js';
import { writeFileAtomically } from '../../writer/output/atomic-file.js';
import { io, printJson } from '../common/io.js';

interface KeygenOptions {
  readonly json?: boolean;
}

export function register(command: Command): void {
  command
    .description(
      'Writes FILE with both keys, readable by its owner only, and FILE.pub with the public one. Prints the public key. Nothing is overwritten.',
    )
    .argument('<file>', 'where the keys go')
    .option('--json', 'one JSON document')
    .action(async (file: string, options: KeygenOptions) => {
      // ZeroMQ, which an installation for reading does without, is loaded only where it is used.
      const { makeKeyPair } = await import('../../bridge/wire/curve.js');
      const pair = makeKeyPair();
      await create(file, keyFile(pair), PRIVATE_MODE);
      await create(`${file}.pub`, `public ${pair.publicKey}\n`, 0o644);
      if (options.json) printJson({ file, publicFile: `${file}.pub`, publicKey: pair.publicKey });
      else io.out(`${pair.publicKey}\n`);
    });
}

async function create(path: string, text: string, mode: number): Promise<void> {
  try {
    await writeFileAtomically(path, text, { inputs: [], mode });
  } catch (cause) {
    if (!isUscopeError(cause)) throw cause;
    const detail =
      cause.code === 'WRITER_EXISTS'
        ? 'the file exists already; a key that is in use must not be overwritten'
        : `the key cannot be written: ${cause.detail}`;
    throw new UscopeError('BRIDGE_KEY', detail, { file: path }, { cause });
  }
}
