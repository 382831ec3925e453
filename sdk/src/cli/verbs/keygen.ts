/** `uscope keygen`: a pair of keys for an encrypted connection. */
import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import { PRIVATE_MODE } from '../../base/file-mode.js';
import { keyFile } from '../../bridge/wire/key-files.js';
import { io, printJson } from '../common/io.js';

interface KeygenOptions {
  readonly json?: boolean;
}

export function register(program: Command): void {
  program
    .command('keygen')
    .summary('make a pair of keys for an encrypted connection')
    .description(
      'Writes FILE with both keys, readable by its owner only, and FILE.pub with the public one. Prints the public key. Nothing is overwritten.',
    )
    .argument('<file>', 'where the keys go')
    .option('--json', 'one JSON document')
    .action(async (file: string, options: KeygenOptions) => {
      // ZeroMQ, which an installation for reading does without, is loaded only where it is used.
      const { makeKeyPair } = await import('../../bridge/wire/curve.js');
      const pair = makeKeyPair();
      create(file, keyFile(pair), PRIVATE_MODE);
      create(`${file}.pub`, `public ${pair.publicKey}\n`, 0o644);
      if (options.json) printJson({ file, publicFile: `${file}.pub`, publicKey: pair.publicKey });
      else io.out(`${pair.publicKey}\n`);
    });
}

function create(path: string, text: string, mode: number): void {
  try {
    writeFileSync(path, text, { flag: 'wx', mode });
  } catch (cause) {
    const isThere = (cause as NodeJS.ErrnoException).code === 'EEXIST';
    const detail = isThere
      ? 'the file exists already; a key that is in use must not be overwritten'
      : `the key cannot be written: ${(cause as Error).message}`;
    throw new UscopeError('BRIDGE_KEY', detail, { file: path }, { cause });
  }
}
