/** What a leaf adds to the command line: a folder that can be deleted, with its line in `leaves.ts`. Everything large is loaded when it is used. */
import type { Command } from 'commander';
import type { FunctionSymbol } from '../../semantics/program/index.js';
import type { SqlAnswerer } from '../view/server/sql-requests.js';

interface VerbModule {
  /** Adds to the verb's command all but its name and summary. */
  register(command: Command, loadAllVerbs: () => Promise<Command>): void;
}

/** What it does, in one line, and its module. */
export type Verb = readonly [summary: string, load: () => Promise<VerbModule>];

export interface AfterRun {
  /** Raised by `run`: the traces are good all the same. */
  readonly hasFailed: boolean;
  run(paths: readonly string[]): Promise<void>;
}

/** Answers SQL about the trace at that path or URL; null: there is no trace yet. */
export type ServedSqlClass = new (
  whereNow: () => Promise<string | null>,
  functions?: readonly FunctionSymbol[],
) => SqlAnswerer;

export interface Leaf {
  /** In the order of the help text. */
  readonly verbs: Readonly<Record<string, Verb>>;
  /** Options of `uscope run`, and what they ask for when the simulator has ended. */
  addRunOptions?(command: Command): void;
  /** @throws UscopeError CLI_USAGE: before the simulator starts */
  afterRun?(options: Readonly<Record<string, unknown>>): Promise<AfterRun | undefined>;
  servedSql?(): Promise<ServedSqlClass>;
}
