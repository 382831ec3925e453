/**
 * Lines of source, from the DWARF of a program, by llvm-symbolizer or addr2line: the tools that people have anyway. One process answers
 * all addresses that are asked for at a time.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { open, readlink, realpath } from 'node:fs/promises';
import { sep } from 'node:path';

/** Where an instruction comes from. */
export interface SourceLine {
  /** As the compiler wrote it. */
  readonly file: string;
  readonly line: number;
}

interface Tool {
  readonly program: string;
  readonly arguments: (elf: string) => readonly string[];
}

/** The first that knows the file's architecture is used; GNU's addr2line often knows that of its machine only. */
const TOOLS: readonly Tool[] = [
  {
    program: 'llvm-symbolizer',
    arguments: (elf) => ['--obj', elf, '--output-style=GNU', '--functions=none', '--no-inlines'],
  },
  ...['llvm-addr2line', 'addr2line', 'riscv64-unknown-elf-addr2line', 'riscv32-unknown-elf-addr2line'].map(
    (program): Tool => ({ program, arguments: (elf) => ['-e', elf] }),
  ),
];
const PATIENCE_MS = 20_000;
/** Of a tool's answer, for each address. */
const MAX_ANSWER_BYTES = 8192;
const MAX_KNOWN = 1_000_000;
const MAX_SOURCE_BYTES = 64 * 1024 * 1024;

export class SourceLines {
  /** null: the tools know no line of it. */
  private readonly known = new Map<string, SourceLine | null>();
  /** null: not found yet; false: there is none. */
  private tool: Tool | false | null = null;
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly elf: string) {}

  /** null: no tool is installed that reads the file. */
  get toolName(): string | null {
    return this.tool ? this.tool.program : null;
  }

  /** @returns in the order of the addresses; null: not known */
  async of(addresses: readonly bigint[]): Promise<(SourceLine | null)[]> {
    // One process after the other: pages ask much at the same time.
    const answer = this.last.then(() => this.look(addresses));
    this.last = answer.catch(() => undefined);
    await answer;
    return addresses.map((address) => this.known.get(String(address)) ?? null);
  }

  private async look(addresses: readonly bigint[]): Promise<void> {
    const unknown = [...new Set(addresses)].filter((address) => !this.known.has(String(address)));
    if (unknown.length === 0 || this.tool === false) return;
    if (this.known.size + unknown.length > MAX_KNOWN) this.known.clear();
    const candidates = this.tool ? [this.tool] : TOOLS;
    for (const tool of candidates) {
      const lines = await answerOf(tool, this.elf, unknown);
      if (!lines) continue;
      this.tool = tool;
      for (const [index, address] of unknown.entries()) this.known.set(String(address), lines[index]!);
      return;
    }
    if (this.tool === null) this.tool = false;
  }
}

/** null: it is not installed, or does not read this file. */
async function answerOf(
  { program, arguments: argumentsOf }: Tool,
  elf: string,
  addresses: readonly bigint[],
): Promise<(SourceLine | null)[] | null> {
  const input = `${addresses.map((address) => `0x${address.toString(16)}`).join('\n')}\n`;
  const text = await printed(program, argumentsOf(elf), input, addresses.length * MAX_ANSWER_BYTES);
  const lines = text?.trimEnd().split('\n') ?? [];
  // LLVM ends each answer with an empty line where it may have several; addr2line complains of a foreign file and prints nothing.
  const answers = lines.filter((line) => line !== '');
  return answers.length === addresses.length ? answers.map(parseLine) : null;
}

/** `FILE:LINE`, `FILE:LINE:COLUMN`, `FILE:LINE (discriminator 3)`; with a question mark where nothing is known. */
export function parseLine(text: string): SourceLine | null {
  const [, file, line] = /^(.*?):(\d+)(?::\d+)?(?: \(discriminator \d+\))?$/.exec(text.trim()) ?? [];
  return file === undefined || file.startsWith('??') || Number(line) === 0
    ? null
    : { file, line: Number(line) };
}

/** null: it could not be started, failed, took too long or printed too much. */
function printed(
  program: string,
  args: readonly string[],
  input: string,
  maxBytes: number,
): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    // Node's own `timeout` keeps the command alive until it is over where the tool is not installed.
    const timer = setTimeout(() => child.kill(), PATIENCE_MS);
    const answer = (text: string | null): void => {
      clearTimeout(timer);
      resolve(text);
    };
    const parts: Buffer[] = [];
    let bytes = 0;
    child.stdout.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > maxBytes) child.kill();
      else parts.push(part);
    });
    // One that ends before it has read all says so by its status.
    child.stdin.on('error', () => undefined);
    child.on('error', () => answer(null));
    child.on('close', (status) => answer(status === 0 ? Buffer.concat(parts).toString('utf8') : null));
    child.stdin.end(input);
  });
}

/**
 * Texts of lines of source files, as far as they are below some directories of this machine. A program names any file it likes: others are
 * read for nobody.
 */
export class SourceTexts {
  private readonly files = new Map<string, Promise<readonly string[] | null>>();
  private roots: Promise<readonly string[]> | null = null;
  private hasReported = false;

  /** @param onOutside called with the first file that is here, but not below the directories */
  constructor(
    private readonly directories: readonly string[],
    private readonly onOutside: (file: string) => void = () => undefined,
  ) {}

  /** null: the file is not here, not below the directories, or has no such line. */
  async of({ file, line }: SourceLine): Promise<string | null> {
    let lines = this.files.get(file);
    if (!lines) {
      lines = this.read(file).catch(() => null);
      this.files.set(file, lines);
    }
    return (await lines)?.[line - 1] ?? null;
  }

  private async read(path: string): Promise<readonly string[] | null> {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = await file.stat();
      if (!found.isFile() || found.size > MAX_SOURCE_BYTES) return null;
      // Of the descriptor: links on the way to the file may change.
      const real = await readlink(`/proc/self/fd/${file.fd}`).catch(() => realpath(path));
      this.roots ??= Promise.all(this.directories.map((one) => realpath(one).catch(() => one)));
      if ((await this.roots).some((root) => isBelow(real, root)))
        return (await file.readFile('utf8')).split('\n');
      if (!this.hasReported) this.onOutside(path);
      this.hasReported = true;
      return null;
    } finally {
      await file.close();
    }
  }
}

const isBelow = (path: string, root: string): boolean =>
  path.startsWith(root.endsWith(sep) ? root : root + sep);
