/** The prompt of `uscope sql`: questions one after the other, with history and completion. Ctrl-C ends a question, or clears what was typed; Ctrl-D ends. */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { isUscopeError } from '../../base/errors.js';
import { PRIVATE_MODE } from '../../base/file-mode.js';
import { replaceFile } from '../../writer/output/atomic-file.js';
import { makeDirectories } from '../../writer/output/directories.js';
import { io } from '../common/io.js';

const HISTORY_LINES = 1000;
const HELP = `A question ends with ";". It may take several lines.
  .tables            the tables
  .schema TABLE      the columns of a table
  .questions         the ready-made questions
  .help              this text
  .quit              end, as Ctrl-D does
Ctrl-C ends a question that runs.
`;

export interface PromptWork {
  /** Prints the rows. */
  ask(question: string, signal: AbortSignal): Promise<void>;
  readonly tables: readonly string[];
  /** One line for each of the ready-made questions. */
  readonly summaries: readonly string[];
  /** Names that can be completed; columns are looked up when a key asks for them first. */
  words(): Promise<readonly string[]>;
}

export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** null: nothing is kept. */
  readonly historyFile: string | null;
}

/** @returns when the input has ended */
export async function prompt(work: PromptWork, { input, output, historyFile }: Terminal): Promise<void> {
  const history = historyFile === null ? [] : await readHistory(historyFile);
  const asked = await new Prompt(work, input, output, history).run();
  if (historyFile !== null) await writeHistory(historyFile, asked);
}

/** One prompt, from its first line to its last. */
class Prompt {
  private readonly lines: Interface;
  /** Lines that wait for the question before them. */
  private readonly pending: string[] = [];
  /** What was typed of a question so far. */
  private typed = '';
  private running: AbortController | null = null;
  private words: readonly string[] | null = null;
  private working: Promise<void> | null = null;
  private hasEnded = false;
  private hasQuit = false;

  constructor(
    private readonly work: PromptWork,
    input: NodeJS.ReadableStream,
    private readonly output: NodeJS.WritableStream,
    /** The oldest line first. */
    private history: readonly string[],
  ) {
    this.lines = createInterface({
      input,
      output,
      terminal: true,
      history: [...history].reverse(),
      historySize: HISTORY_LINES,
      prompt: 'uscope> ',
      completer: (line: string, done: (error: null, result: [string[], string]) => void) => {
        void this.completions(line).then((result) => done(null, result));
      },
    });
  }

  /** @returns the history */
  async run(): Promise<readonly string[]> {
    const { lines } = this;
    await new Promise<void>((resolve, reject) => {
      const go = (): void => {
        this.working ??= this.answerPending()
          .then(() => {
            this.working = null;
            if (this.pending.length > 0 && !this.hasQuit) go();
            else if (this.hasEnded) resolve();
            else this.ready();
          })
          .catch((error) => {
            lines.close();
            reject(error);
          });
      };
      lines.on('line', (line) => {
        this.pending.push(line);
        go();
      });
      lines.on('history', (all: string[]) => {
        this.history = [...all].reverse();
      });
      lines.on('SIGINT', () => this.interrupt());
      lines.on('close', () => {
        this.hasEnded = true;
        if (this.working === null) resolve();
      });
      this.ready();
    });
    return this.history;
  }

  private ready(): void {
    this.lines.setPrompt(this.typed === '' ? 'uscope> ' : '   ...> ');
    this.lines.prompt();
  }

  /** Ends the question that runs, or clears what was typed. */
  private interrupt(): void {
    if (this.running) {
      this.running.abort();
      return;
    }
    this.typed = '';
    this.output.write('\n');
    // Clears the line without running it.
    this.lines.write(null, { ctrl: true, name: 'e' });
    this.lines.write(null, { ctrl: true, name: 'u' });
    this.ready();
  }

  private async completions(line: string): Promise<[string[], string]> {
    if (this.running) return [[], line];
    this.words ??= await this.work.words().catch(() => []);
    return completionsOf(line, this.words);
  }

  private async answerPending(): Promise<void> {
    for (let line = this.pending.shift(); line !== undefined; line = this.pending.shift()) {
      const question = this.typed === '' && /^\s*\./.test(line) ? this.command(line) : this.more(line);
      if (this.hasQuit) return;
      if (question !== null) await this.ask(question);
    }
  }

  /** A line that begins with a dot. @returns the question that it means, if it means one */
  private command(line: string): string | null {
    const { work } = this;
    const [command, ...rest] = line.trim().split(/\s+/);
    if (command === '.quit' || command === '.exit') {
      this.hasQuit = true;
      this.lines.close();
      return null;
    }
    if (command === '.schema' && rest.length === 1 && work.tables.includes(rest[0]))
      return `describe ${rest[0]};`;
    io.out(dotAnswer(command, work));
    io.flush();
    return null;
  }

  /** One more line of a question. @returns the question when it is complete */
  private more(line: string): string | null {
    const typed = this.typed === '' ? line : `${this.typed}\n${line}`;
    const isComplete = /;\s*$/.test(typed);
    this.typed = isComplete || typed.trim() === '' ? '' : typed;
    return isComplete ? typed : null;
  }

  private async ask(question: string): Promise<void> {
    this.running = new AbortController();
    try {
      await this.work.ask(question, this.running.signal);
    } catch (error) {
      if (!isUscopeError(error)) throw error;
      io.err(`${error.code}: ${error.detail}`);
    } finally {
      this.running = null;
      io.flush();
    }
  }
}

function dotAnswer(command: string, { tables, summaries }: PromptWork): string {
  if (command === '.tables') return `${tables.join('  ')}\n`;
  if (command === '.questions') return `${summaries.join('\n')}\n`;
  if (command === '.help') return HELP;
  if (command === '.schema') return `.schema needs a table: ${tables.join(', ')}\n`;
  return `there is no ${command}; .help lists what there is\n`;
}

/** Words that begin as the last one of a line does. */
export function completionsOf(line: string, words: readonly string[]): [string[], string] {
  const [begun] = /[\w.]*$/.exec(line) ?? [''];
  const plain = begun.slice(begun.lastIndexOf('.') + 1).toLowerCase();
  const isDot = line.trimStart() === begun && begun.startsWith('.');
  if (isDot)
    return [
      ['.tables', '.schema', '.questions', '.help', '.quit'].filter((one) => one.startsWith(begun)),
      begun,
    ];
  if (plain === '') return [[], ''];
  return [
    words.filter((word) => word.toLowerCase().startsWith(plain)),
    begun.slice(begun.lastIndexOf('.') + 1),
  ];
}

/** Beside the other state of programs. */
export function historyPath(environment: NodeJS.ProcessEnv): string {
  const base = environment.XDG_STATE_HOME ?? '';
  return join(isAbsolute(base) ? base : join(homedir(), '.local', 'state'), 'uscope', 'sql-history');
}

async function readHistory(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .slice(-HISTORY_LINES);
}

/** A home that cannot be written only costs the history. */
async function writeHistory(path: string, history: readonly string[]): Promise<void> {
  try {
    await makeDirectories(dirname(path), 0o700);
    await replaceFile(path, `${history.slice(-HISTORY_LINES).join('\n')}\n`, PRIVATE_MODE);
  } catch {
    // as said
  }
}
