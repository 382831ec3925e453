/** `uscope sql`: questions in SQL about datasets and traces. */

import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { appendAll } from '../../base/arrays.js';
import { isUscopeError, UscopeError } from '../../base/errors.js';
import {
  checkRunName,
  LINK,
  loadEngine,
  loadMacros,
  type SessionOptions,
  SqlSession,
  TABLES,
  tablesIn,
} from '../../dataset/index.js';
import { ElfSymbols } from '../../semantics/program/index.js';
import { type AtomicOptions, writeFileAtomically } from '../../writer/output/atomic-file.js';
import { io } from '../common/io.js';
import { parseSeconds } from '../common/option-values.js';
import { type Form, RowPrinter } from './print.js';
import { historyPath, prompt } from './prompt.js';
import { SqlSources } from './sources.js';

interface SqlOptions {
  readonly file?: string;
  readonly output?: string;
  readonly json?: boolean;
  readonly jsonl?: boolean;
  readonly csv?: boolean;
  readonly markdown?: boolean;
  readonly timeout?: string;
  readonly memory?: string;
  readonly questions?: boolean;
  readonly run?: string;
  readonly force?: boolean;
  readonly elf?: string;
  readonly links: boolean;
}

/** How rows are printed. */
interface Shape {
  readonly form: Form;
  readonly links: boolean;
}

export function register(command: Command): void {
  command
    .description(
      'Answers one question in SQL about datasets that uscope export has made, or about traces. It reads only them and changes nothing.',
    )
    .argument('[source-or-query...]', 'datasets, traces or directories with traces, and last the question')
    .option('-f, --file <query.sql>', 'the question is in a file; all arguments are datasets or traces')
    .option('-o, --output <file>', 'the rows as a Parquet file')
    .option('--force', 'replace a file that is there already')
    .option('--json', 'the rows as one JSON document')
    .option('--jsonl', 'one JSON object per row')
    .option('--csv', 'comma-separated values')
    .option('--markdown', 'a table in Markdown')
    .option(
      '--run <name>',
      'name of the run, for one trace or directory (default: made from the name of the directory)',
    )
    .option('--timeout <seconds>', 'limit of time for the question, and for making the tables of traces')
    .option('--memory <size>', 'limit of memory for the engine, and for making the tables, such as 2GB')
    .option('--no-links', 'leave out the column with the command that opens the viewer at a row')
    .option('--elf <file>', 'the program that ran, for the names of functions')
    .option('--questions', 'list the ready-made questions')
    .action((args: string[], options: SqlOptions) => sql(args, options));
}

async function sql(args: readonly string[], options: SqlOptions): Promise<void> {
  if (options.questions) {
    for (const { summary } of await loadMacros()) io.out(`${summary}\n`);
    return;
  }
  const shape = { form: formOf(options), links: options.links };
  const timeoutMs = parseSeconds('--timeout', options.timeout);
  const limits = { memory: options.memory, timeoutMs, functions: await functionsOf(options.elf) };
  if (options.run !== undefined) checkRunName(options.run);
  if (options.file === undefined && options.output === undefined && (await areAllSources(args))) {
    await withSources(args, options.run, limits, (sources) => atPrompt(sources, shape, limits));
    return;
  }
  const { paths, question } = await questionOf(args, options.file);
  await withSources(paths, options.run, limits, (sources) =>
    askOnce(sources, question, shape, limits, options),
  );
}

async function withSources(
  paths: readonly string[],
  run: string | undefined,
  limits: SessionOptions,
  work: (sources: SqlSources) => Promise<void>,
): Promise<void> {
  const sources = new SqlSources(paths, run, limits);
  try {
    await work(sources);
  } finally {
    await sources.close();
  }
}

async function askOnce(
  sources: SqlSources,
  question: string,
  shape: Shape,
  limits: SessionOptions,
  { output, force }: SqlOptions,
): Promise<void> {
  const controller = new AbortController();
  const interrupt = (): void => controller.abort();
  process.once('SIGINT', interrupt);
  const { signal } = controller;
  try {
    const engine = await loadEngine();
    const begun = performance.now();
    const datasets = await sources.datasets(await tablesIn(engine, question, await loadMacros()), signal);
    const { timeoutMs } = limits;
    const left = timeoutMs && Math.max(1, timeoutMs - (performance.now() - begun));
    const session = await SqlSession.open(engine, datasets, { ...limits, timeoutMs: left });
    try {
      if (output === undefined) await print(session, question, shape, signal);
      else await write(session, question, output, { inputs: [...sources.paths, ...datasets], force, signal });
      await noteEmpty(session, question);
    } finally {
      await session.close();
    }
  } finally {
    process.off('SIGINT', interrupt);
  }
}

/** An answer that is empty because there is no such thing says so. */
async function noteEmpty(session: SqlSession, question: string): Promise<void> {
  for (const why of await session.whyEmpty(question)) io.err(`uscope: note: DATASET_EMPTY: ${why}`);
}

/** Rows of the table `functions`. */
async function functionsOf(file: string | undefined): Promise<SessionOptions['functions']> {
  if (file === undefined) return undefined;
  const bytes = await readFile(file).catch((cause) => {
    throw new UscopeError('CLI_USAGE', `the program cannot be read: ${(cause as Error).message}`);
  });
  try {
    return ElfSymbols.parse(bytes).functions;
  } catch (error) {
    throw isUscopeError(error) ? error.at({ file }) : error;
  }
}

/** Then there is no question, and a terminal can ask for some. */
async function areAllSources(args: readonly string[]): Promise<boolean> {
  if (args.length === 0 || !process.stdin.isTTY || !process.stdout.isTTY) return false;
  const found = await Promise.all(
    args.map((path) =>
      stat(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.every(Boolean);
}

/** Tables of traces are made when a question names them first. */
async function atPrompt(sources: SqlSources, shape: Shape, limits: SessionOptions): Promise<void> {
  const macros = await loadMacros();
  const engine = await loadEngine();
  const datasets = await sources.datasets(['traces'], new AbortController().signal);
  const session = await SqlSession.open(engine, datasets, limits);
  const ask = async (question: string, signal: AbortSignal): Promise<void> => {
    await sources.datasets(await tablesIn(engine, question, macros), signal);
    await print(session, question, shape, signal);
    await noteEmpty(session, question);
  };
  try {
    await prompt(
      {
        ask,
        tables: TABLES,
        summaries: macros.map(({ summary }) => summary),
        words: async () => [...TABLES, ...macros.map(({ name }) => name), ...(await session.columns())],
      },
      { input: process.stdin, output: process.stdout, historyFile: historyPath(process.env) },
    );
  } finally {
    await session.close();
  }
}

function print(
  session: SqlSession,
  question: string,
  { form, links }: Shape,
  signal: AbortSignal,
): Promise<void> {
  return session.ask(
    question,
    async (result, found) => {
      const linkOf = links ? found : null;
      const names = result.deduplicatedColumnNames();
      const printer = new RowPrinter(form, linkOf ? [...names, LINK] : names);
      for (;;) {
        const chunk = await result.fetchChunk();
        if (chunk === null || chunk.rowCount === 0) break;
        for (const row of chunk.getRows()) printer.row(linkOf ? [...row, linkOf(row)] : row);
      }
      printer.end();
    },
    signal,
  );
}

async function write(
  session: SqlSession,
  question: string,
  output: string,
  options: AtomicOptions,
): Promise<void> {
  const inputs = [...options.inputs];
  const rows = async () => {
    const { path, sources } = await session.askToParquet(question, options.signal);
    appendAll(inputs, sources); // nobody reads the answer who may not read all that it was made of
    return createReadStream(path);
  };
  await writeFileAtomically(output, rows, { ...options, inputs });
}

async function questionOf(
  args: readonly string[],
  file: string | undefined,
): Promise<{ paths: readonly string[]; question: string }> {
  if (file !== undefined) {
    const question = await readFile(file, 'utf8').catch((cause) => {
      throw new UscopeError('CLI_USAGE', `the question cannot be read: ${(cause as Error).message}`);
    });
    if (args.length === 0) throw new UscopeError('CLI_USAGE', 'name a dataset or a trace');
    return { paths: args, question };
  }
  if (args.length < 2)
    throw new UscopeError(
      'CLI_USAGE',
      'name a dataset or a trace, and ask a question: uscope sql DATASET "select …"; without a question there is a prompt on a terminal',
    );
  return { paths: args.slice(0, -1), question: args[args.length - 1] };
}

function formOf({ json, jsonl, csv, markdown, output }: SqlOptions): Form {
  const chosen = Object.entries({ json, jsonl, csv, markdown }).filter(([, value]) => value);
  if (chosen.length + (output === undefined ? 0 : 1) > 1)
    throw new UscopeError('CLI_USAGE', 'choose one form of output');
  return (chosen[0]?.[0] ?? 'table') as Form;
}
