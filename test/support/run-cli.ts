/** Runs a command line of `uscope` in this process and keeps what it prints. */
import { printable } from '../../sdk/src/base/printable.js';
import { type BarPlace, useIo } from '../../sdk/src/cli/common/io.js';
import { runCli } from '../../sdk/src/cli/main.js';

export interface CliResult {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

export interface CliOptions {
  /** Called after each flush, with everything printed so far. */
  readonly onFlush?: (out: string) => void;
  readonly bar?: BarPlace;
}

export async function runUscope(
  args: readonly string[],
  { onFlush, bar }: CliOptions = {},
): Promise<CliResult> {
  let out = '';
  let err = '';
  useIo({
    out: (text) => {
      out += text;
    },
    err: (line) => {
      err += `${printable(line)}\n`; // as on stderr
    },
    flush: () => onFlush?.(out),
    colour: false,
    bar: bar ?? null,
  });
  try {
    const status = await runCli(args);
    return { status, out, err };
  } finally {
    useIo(null);
    process.exitCode = undefined;
  }
}

export const linesOf = ({ out }: CliResult): string[] => out.trimEnd().split('\n');
export const jsonLinesOf = (result: CliResult): unknown[] => linesOf(result).map((line) => JSON.parse(line));
