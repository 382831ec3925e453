/** FST, the packed waveforms of GTKWave, for the conversions: a VCD that goes through GTKWave's own program. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { UscopeError } from '../../base/errors.js';
import { scratchDirectory } from '../../writer/output/directories.js';
import type { ByteOutput, ForeignFormat } from '../common/foreign-format.js';
import { uscopeToVcd, VCD_EXPORT_OPTIONS } from './from-uscope.js';

export const FORMAT: ForeignFormat = {
  name: 'fst',
  title: 'Fast Signal Trace, for waveform viewers, through vcd2fst of GTKWave',
  extensions: ['.fst'],
  options: VCD_EXPORT_OPTIONS,
  write: async (trace, files, _extension, context) => {
    const output = await files.open(null);
    await packAsFst(output, context.signal, (vcd) =>
      uscopeToVcd(trace, { open: async () => vcd }, '.vcd', context),
    );
  },
};

// GTKWave's `vcd2fst`, which makes an FST file of a VCD while that is written.

export const PACKER = 'vcd2fst';
/** Of what it says on an error. */
const MAX_SAID = 1000;

/**
 * Runs `fill` with an output that takes the VCD, then copies the FST file to `output`. Its own file is in the directory for temporary files.
 * @throws UscopeError ENV_MISSING (no vcd2fst), WRITER_IO (it failed), and what `fill` throws
 */
export async function packAsFst(
  output: ByteOutput,
  signal: AbortSignal | undefined,
  fill: (vcd: ByteOutput) => Promise<void>,
): Promise<void> {
  const directory = await scratchDirectory('uscope-fst');
  const packer = new Packer(join(directory, 'packed.fst'));
  try {
    await fill(packer);
    const path = await packer.finish();
    for await (const bytes of createReadStream(path)) {
      signal?.throwIfAborted();
      await output.write(bytes as Uint8Array);
    }
  } finally {
    await packer.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

class Packer implements ByteOutput {
  length = 0;
  private readonly child: ChildProcess;
  private readonly ended: Promise<void>;
  private said = '';
  private failure: UscopeError | null = null;

  constructor(private readonly path: string) {
    this.child = spawn(PACKER, ['-v', '-', '-f', path], { stdio: ['pipe', 'ignore', 'pipe'] });
    this.child.stderr?.on('data', (text: Buffer) => {
      if (this.said.length < MAX_SAID) this.said += text.toString();
    });
    // It may end before it has read everything: its exit says why.
    this.child.stdin?.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      this.child.once('error', (cause: NodeJS.ErrnoException) => {
        this.failure ??= failureOf(cause);
        resolve();
      });
      this.child.once('close', (status, by) => {
        if (status !== 0) this.failure ??= failed(`it ended with ${by ?? `status ${status}`}`, this.said);
        resolve();
      });
    });
  }

  async write(bytes: Uint8Array): Promise<void> {
    const { stdin } = this.child;
    this.length += bytes.length;
    if (stdin?.write(bytes) === false)
      await Promise.race([once(stdin, 'drain').catch(() => undefined), this.ended]);
    if (this.failure) throw this.failure;
  }

  async patch(): Promise<void> {
    throw new UscopeError('WRITER_IO', 'what went into a pipe cannot be changed');
  }

  /** Path of the file. @throws UscopeError ENV_MISSING, WRITER_IO */
  async finish(): Promise<string> {
    this.child.stdin?.end();
    await this.ended;
    if (this.failure) throw this.failure;
    return this.path;
  }

  /** Nothing of it runs on. */
  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill();
    await this.ended;
  }
}

function failureOf(cause: NodeJS.ErrnoException): UscopeError {
  if (cause.code === 'ENOENT')
    return new UscopeError(
      'ENV_MISSING',
      `writing FST needs the program ${PACKER} of GTKWave, which is not in PATH: install GTKWave (Debian: apt install gtkwave), or write .vcd`,
    );
  return failed(cause.message, '');
}

function failed(why: string, said: string): UscopeError {
  const detail = said.trim() === '' ? '' : `: ${said.trim().slice(0, MAX_SAID)}`;
  return new UscopeError('WRITER_IO', `${PACKER} could not write the FST file: ${why}${detail}`);
}
