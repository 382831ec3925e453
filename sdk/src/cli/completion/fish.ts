/** Completion for fish. */
import type { CommandModel, OptionModel, VerbModel, WordModel } from './model.js';

export function fishCompletion(model: CommandModel): string {
  const { name, verbs } = model;
  const none = `"__fish_is_first_token"`;
  const lines = [
    `# fish completion for ${name}; put it into ~/.config/fish/completions/${name}.fish, or load it with: ${name} completion fish | source`,
    `complete -c ${name} -f`,
    ...model.options.map((option) => optionLine(name, none, option)),
    ...verbs.map((verb) => `complete -c ${name} -n ${none} -a ${verb.name} -d ${quote(verb.summary)}`),
    ...verbs.flatMap((verb) => verbLines(model, verb)),
  ];
  return `${lines.join('\n')}\n`;
}

function verbLines(model: CommandModel, verb: VerbModel): string[] {
  const seen = `"__fish_seen_subcommand_from ${verb.name}"`;
  const options = verb.options.map((option) => optionLine(model.name, seen, option));
  // Which word it is does not matter to fish: what any of them may be is offered for all.
  const words = verb.words.flatMap((word) => candidates(model, word));
  return [...options, ...[...new Set(words)].map((word) => `complete -c ${model.name} -n ${seen} ${word}`)];
}

function optionLine(name: string, condition: string, { flags, description, value }: OptionModel): string {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  const argument = value ? ` -x${valueCandidates(value)}` : '';
  return `complete -c ${name} -n ${condition} ${names.join(' ')}${argument} -d ${quote(description)}`;
}

function valueCandidates({ kind, choices }: WordModel): string {
  if (choices.length > 0) return ` -a ${quote(choices.join(' '))}`;
  if (kind === 'directory') return ' -a "(__fish_complete_directories)"';
  return kind === 'file' || kind === 'trace' ? ' -a "(__fish_complete_path)"' : '';
}

function candidates({ verbs }: CommandModel, { kind, choices }: WordModel): string[] {
  if (choices.length > 0) return [`-a ${quote(choices.join(' '))}`];
  if (kind === 'verb') return [`-a ${quote(verbs.map(({ name }) => name).join(' '))}`];
  if (kind === 'trace') return ['-k -a "(__fish_complete_suffix .uscope)"'];
  return kind === 'file' ? ['-F'] : [];
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
