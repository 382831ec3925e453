/**
 * Documents whose code blocks are executed, so that they cannot rot. What follows the language in a block's first line says
 * what the block is:
 *
 *     ```yaml file=core.yaml       the file's contents, in the current directory of the shell
 *     ```sh run                    commands; `status=1` when they are meant to fail, `if=cmake` when they need that program, `long` when they
 *                                  take so long that they run only where every case is tried (effort.ts)
 *     ```text output               what the commands before it print: stdout, then stderr
 *
 * Blocks without such a word are only read. In output, `…` represents any text within a line, and a line that is
 * nothing but `…` for any number of lines.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BUILDS_MS } from './limits.js';

export interface FileBlock {
  readonly kind: 'file';
  readonly line: number;
  readonly path: string;
  readonly text: string;
}

export interface RunBlock {
  readonly kind: 'run';
  readonly line: number;
  readonly script: string;
  readonly status: number;
  /** A program without which the commands are skipped. */
  readonly needs: string | null;
  readonly isLong: boolean;
  /** null: what it prints is not shown. */
  output: string | null;
}

export type Block = FileBlock | RunBlock;

const FENCE = /^```(\S*) *(.*)\n([\s\S]*?)^```$/gm;

/** The blocks that say what they are, in order. @throws Error for output without commands and for words it does not know. */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  for (const { 1: language, 2: words = '', 3: text = '', index } of markdown.matchAll(FENCE)) {
    const line = markdown.slice(0, index).split('\n').length;
    const [what = '', ...rest] = words.split(/\s+/);
    if (what === '') continue;
    if (what.startsWith('file=')) blocks.push({ kind: 'file', line, path: what.slice(5), text });
    else if (what === 'run') {
      blocks.push({
        kind: 'run',
        line,
        script: text,
        status: Number(valueAfter('status', rest) ?? 0),
        needs: valueAfter('if', rest),
        isLong: rest.includes('long'),
        output: null,
      });
    } else if (what === 'output') attachOutput(blocks.at(-1), text, line);
    else throw new Error(`line ${line}: a ${language} block is called "${words}"`);
  }
  return blocks;
}

/** `VALUE` of `name=VALUE`. */
function valueAfter(name: string, words: readonly string[]): string | null {
  return words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
}

function attachOutput(before: Block | undefined, text: string, line: number): void {
  if (before?.kind !== 'run' || before.output !== null) {
    throw new Error(`line ${line}: output without commands before it`);
  }
  before.output = text;
}

/** Whether `actual` is what a document shows, wildcards included. */
export function matchesOutput(shown: string, actual: string): boolean {
  const lines = shown.trimEnd().split('\n');
  const pattern = lines
    .map((line) => (line.trim() === '…' ? '(?:.*\\n)*' : `${linePattern(line)} *\\n`))
    .join('');
  const expected = new RegExp(`^${pattern}$`);
  return expected.test(`${actual.trimEnd()}\n`) || expected.test(`${withoutProgress(actual).trimEnd()}\n`);
}

/**
 * A run that takes seconds, as on a loaded machine, reports its progress between the lines that a document shows; Verilator 5.048 reports at the end of
 * each.
 */
function withoutProgress(output: string): string {
  return output.replace(
    /^(uscope: \S+: .* items\/s, .* segments|- (S i m u l a t i o n|Verilator:).*)\n/gm,
    '',
  );
}

function linePattern(line: string): string {
  const pieces = line.trimEnd().split('…');
  return pieces.map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*');
}

/** What a reader's terminal is: directory and exported variables last from one block to the next. */
export class ShellSession {
  private readonly state: string;

  /** @param home taken for the home directory, and by tools for their temporary files */
  constructor(
    private readonly home: string,
    directory: string,
  ) {
    this.state = join(home, '.session');
    writeFileSync(this.state, `cd '${directory}'\n`);
  }

  run(script: string): { status: number | null; output: string } {
    const body = `. '${this.state}'\ntrap '{ echo "cd \\"$PWD\\""; export -p; } > "${this.state}"' EXIT\nset -e\n${script}`;
    const { status, stdout, stderr, error } = spawnSync('bash', ['-c', body], {
      env: { ...process.env, HOME: this.home, NO_COLOR: '1' },
      encoding: 'utf8',
      timeout: BUILDS_MS,
    });
    if (error) throw error;
    return { status, output: stdout + (stdout === '' || stdout.endsWith('\n') ? '' : '\n') + stderr };
  }

  writeFile(path: string, text: string): void {
    const file = join(this.run('pwd').output.trim(), path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
