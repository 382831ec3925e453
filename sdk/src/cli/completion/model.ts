/** What a shell needs to know of the command line, taken from the commands themselves. */
import type { Argument, Command, Option } from 'commander';

/** What a word may be; `none`: nobody can guess it. */
export type WordKind = 'trace' | 'file' | 'directory' | 'verb' | 'none';

/** What may be in a place: fixed words, or a kind of name. */
export interface WordModel {
  readonly kind: WordKind;
  readonly choices: readonly string[];
}

export interface OptionModel {
  /** `-o`, `--output`; the short one first. */
  readonly flags: readonly string[];
  readonly description: string;
  /** null: it takes no value. */
  readonly value: WordModel | null;
  readonly repeatable: boolean;
}

export interface VerbModel {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionModel[];
  readonly words: readonly WordModel[];
  /** The last of `words` may be repeated. */
  readonly variadic: boolean;
}

export interface CommandModel {
  readonly name: string;
  readonly options: readonly OptionModel[];
  readonly verbs: readonly VerbModel[];
}

const HELP: OptionModel = {
  flags: ['-h', '--help'],
  description: 'print help',
  value: null,
  repeatable: false,
};

export function describeCommand(program: Command): CommandModel {
  const help: VerbModel = {
    name: 'help',
    summary: 'print help for a verb',
    options: [],
    words: [{ kind: 'verb', choices: [] }],
    variadic: false,
  };
  return {
    name: program.name(),
    options: [HELP, ...program.options.map(describeOption)],
    verbs: [...program.commands.map(describeVerb), help],
  };
}

function describeVerb(command: Command): VerbModel {
  const { registeredArguments: words } = command;
  return {
    name: command.name(),
    summary: command.summary() || command.description(),
    options: [...command.options.filter(({ hidden }) => !hidden).map(describeOption), HELP],
    words: words.map(describeArgument),
    variadic: words.at(-1)?.variadic ?? false,
  };
}

function describeOption(option: Option): OptionModel {
  const { short, long, description, required, optional, argChoices, defaultValue, variadic } = option;
  const flags = [short, long].filter((flag) => flag !== undefined);
  const takesValue = required || optional;
  return {
    flags,
    description,
    value: takesValue ? { kind: kindOf(option.flags), choices: argChoices ?? [] } : null,
    repeatable: variadic || Array.isArray(defaultValue),
  };
}

function describeArgument(argument: Argument): WordModel {
  const { argChoices, description } = argument;
  if (argChoices) return { kind: 'none', choices: argChoices };
  const isTrace = /\btraces?\b/.test(description);
  return { kind: isTrace ? 'trace' : kindOf(`<${argument.name()}>`), choices: [] };
}

/** By the name of the value: `--out <dir>`. */
function kindOf(flags: string): WordKind {
  if (/<(file|schema|output|input|simulator)s?(\.\.\.)?>/.test(flags)) return 'file';
  return /<(dir|directory)>/.test(flags) ? 'directory' : 'none';
}
