/** The prompt of `uscope sql`: questions one after the other, with history and completion. Ctrl-C ends a question, or clears what was typed; Ctrl-D ends. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { createInterface } from 'node:readline';
import { isUscopeError } from '../../base/errors.js';
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
  let words: readonly string[] | null = null;
  let running: AbortController | null = null;
  let typed = '';
  const lines = createInterface({
    input,
    output,
    terminal: true,
    history: [...history].reverse(),
    historySize: HISTORY_LINES,
    prompt: 'uscope> ',
    completer: (line: string, done: (error: null, result: [string[], string]) => void) => {
      if (running) done(null, [[], line]);
      else
        void (words === null ? work.words() : Promise.resolve(words))
          .catch(() => [] as readonly string[])
          .then((all) => {
            words = all;
            done(null, completionsOf(line, all));
          });
    },
  });
  const ready = (): void => {
    lines.setPrompt(typed === '' ? 'uscope> ' : '   ...> ');
    lines.prompt();
  };
  lines.on('SIGINT', () => {
    if (running) running.abort();
    else {
      typed = '';
      output.write('\n');
      // Clears the line without running it.
      lines.write(null, { ctrl: true, name: 'e' });
      lines.write(null, { ctrl: true, name: 'u' });
      ready();
    }
  });
  const pending: string[] = [];
  let hasEnded = false;
  let hasQuit = false;
  const answer = async (): Promise<void> => {
    for (let line = pending.shift(); line !== undefined; line = pending.shift()) {
      if (typed === '' && /^\s*\./.test(line)) {
        const [command, ...rest] = line.trim().split(/\s+/);
        if (command === '.quit' || command === '.exit') {
          hasQuit = true;
          lines.close();
          return;
        }
        if (command === '.schema' && rest.length === 1 && work.tables.includes(rest[0])) {
          typed = `describe ${rest[0]};`;
        } else {
          io.out(dotAnswer(command, work));
          io.flush();
          continue;
        }
      } else typed = typed === '' ? line : `${typed}\n${line}`;
      if (!/;\s*$/.test(typed)) {
        if (typed.trim() === '') typed = '';
        continue;
      }
      const question = typed;
      typed = '';
      running = new AbortController();
      try {
        await work.ask(question, running.signal);
      } catch (error) {
        if (!isUscopeError(error)) throw error;
        io.err(`${error.code}: ${error.detail}`);
      } finally {
        running = null;
        io.flush();
      }
    }
  };
  await new Promise<void>((resolve, reject) => {
    let work: Promise<void> | null = null;
    const go = (): void => {
      work ??= answer()
        .then(() => {
          work = null;
          if (pending.length > 0 && !hasQuit) go();
          else if (hasEnded) resolve();
          else ready();
        })
        .catch((error) => {
          lines.close();
          reject(error);
        });
    };
    lines.on('line', (line) => {
      pending.push(line);
      go();
    });
    lines.on('history', (all: string[]) => {
      history.splice(0, history.length, ...[...all].reverse());
    });
    lines.on('close', () => {
      hasEnded = true;
      if (work === null) resolve();
    });
    ready();
  });
  if (historyFile !== null) await writeHistory(historyFile, history);
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
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, `${history.slice(-HISTORY_LINES).join('\n')}\n`, { mode: 0o600 });
  } catch {
    // as said
  }
}
