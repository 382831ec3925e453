/**
 * How verbs talk: data to stdout, diagnostics to stderr. Output is collected into large writes, which block while the reader of a pipe is
 * slow: memory stays bounded however much is printed.
 */
import { fstatSync, writeSync } from 'node:fs';
import type { UscopeError } from '../../base/errors.js';
import { onOneLine, printable, printableOutput } from '../../base/printable.js';

/** Exit status of the command. */
export const ExitCode = { OK: 0, FAILED: 1, USAGE: 2, LOSS: 3 } as const;

const FLUSH_CHARACTERS = 64 * 1024;
const STDOUT = 1;
const STDERR = 2;
const DEFAULT_COLUMNS = 80;

/** The reader of our output has gone (`uscope dump … | head`): not an error, only the end. */
export class BrokenPipe extends Error {}

export interface Io {
  /** Data, as it is: lines bring their own newline. */
  out(text: string): void;
  /** Data that need not be UTF-8. Absent: it is printed as text. */
  outBytes?(bytes: Uint8Array): void;
  /** One line for people; what follows it is indented. */
  err(line: string): void;
  flush(): void;
  /** Whether stdout is a terminal that shows colours. */
  readonly colour: boolean;
  /** Width of stdout; absent where it is not a terminal. */
  readonly columns?: number | undefined;
  /** Where a progress bar may be drawn; absent or null: nowhere. */
  readonly bar?: BarPlace | null;
}

/** stderr, when it is a terminal. */
export interface BarPlace {
  readonly columns: number;
  /** Data goes to the same terminal. */
  readonly sharesStdout: boolean;
  write(text: string): void;
  /** Called before anything else is printed on the same terminal; null: nothing to do any more. */
  onOutput(hook: (() => void) | null): void;
}

/**
 * Whether stdout or stderr is a terminal. Node's stream is asked only where it can be one: making it takes time, and would turn a pipe into
 * one that does not wait for its reader.
 */
function isTerminal(fd: typeof STDOUT | typeof STDERR): boolean {
  try {
    if (!fstatSync(fd).isCharacterDevice()) return false;
  } catch {
    return false; // closed
  }
  return (fd === STDOUT ? process.stdout : process.stderr).isTTY === true;
}

function processIo(): Io {
  const isTty = isTerminal(STDOUT);
  let pending = '';
  const decoder = new TextDecoder();
  let beforeOutput: (() => void) | null = null;
  const flush = (): void => {
    const text = pending;
    pending = '';
    if (!text) return;
    if (isTty) beforeOutput?.();
    writeAll(STDOUT, isTty ? printableOutput(text) : text);
  };
  return {
    out(text) {
      pending += text;
      if (pending.length >= FLUSH_CHARACTERS) flush();
    },
    outBytes(bytes) {
      if (isTty) pending += decoder.decode(bytes, { stream: true });
      flush();
      if (!isTty) writeAllBytes(STDOUT, bytes);
    },
    err(line) {
      flush();
      beforeOutput?.();
      writeAll(STDERR, `${printable(line)}\n`);
    },
    flush,
    colour: isTty && !process.env.NO_COLOR && process.env.TERM !== 'dumb',
    get columns() {
      return isTty ? process.stdout.columns : undefined;
    },
    bar: terminalBar(isTty, (hook) => {
      beforeOutput = hook;
    }),
  };
}

function terminalBar(sharesStdout: boolean, onOutput: BarPlace['onOutput']): BarPlace | null {
  if (process.env.TERM === 'dumb' || !isTerminal(STDERR)) return null;
  return {
    get columns() {
      // A terminal that does not know its size reports 0.
      return process.stderr.columns || DEFAULT_COLUMNS;
    },
    sharesStdout,
    write: (text) => writeAll(STDERR, text),
    onOutput,
  };
}

/** The verbs' way out; tests put another in its place with `useIo`. */
export let io: Io = processIo();

export function useIo(replacement: Io | null): void {
  io = replacement ?? processIo();
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));
const RETRY_MS = 2;

function writeAll(fd: number, text: string): void {
  writeAllBytes(fd, Buffer.from(text));
}

function writeAllBytes(fd: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EPIPE') throw new BrokenPipe();
      if (code !== 'EAGAIN') throw error;
      // A pipe somebody has made non-blocking is full: wait for its reader.
      Atomics.wait(sleeper, 0, 0, RETRY_MS);
    }
  }
}

/** Large pieces of data, as they are. */
export function printBytes(bytes: Uint8Array): void {
  if (io.outBytes) io.outBytes(bytes);
  else io.out(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
}

const COLOURS = {
  dim: '2',
  red: '31',
  green: '32',
  yellow: '33',
  blue: '34',
  cyan: '36',
  bold: '1',
} as const;

/** `text`, which is part of a line, in a colour where stdout shows colours. */
export function paint(colour: keyof typeof COLOURS, text: string): string {
  const line = onOneLine(text);
  return io.colour ? `\x1b[${COLOURS[colour]}m${line}\x1b[0m` : line;
}

/** One JSON document, indented; bigints as decimal strings. */
export function printJson(value: unknown): void {
  io.out(`${JSON.stringify(value, bigintAsString, 2)}\n`);
}

export function bigintAsString(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

/** `CODE: what is wrong (file, offset)`. */
export function describeError(error: UscopeError): string {
  // Several problems, each with its place before it.
  if (error.detail.includes('\n')) return error.message;
  const { file, line, column, offset } = error.place;
  const position =
    line !== undefined
      ? `line ${line}${column !== undefined ? `, column ${column}` : ''}`
      : offset !== undefined
        ? `offset ${offset}`
        : undefined;
  const place = [file, position].filter((part) => part !== undefined).join(', ');
  return `${error.code}: ${error.detail}${place ? ` (${place})` : ''}`;
}
