/** Completion for bash 3.2 and later, without the package bash-completion. Nothing of ours runs while completing: the script knows all words. */
import type { CommandModel, OptionModel, VerbModel, WordModel } from './model.js';

const HEAD = `# bash completion for NAME; load it with: source <(NAME completion bash)

# Words of a list that begin with what has been typed.
_NAME_words() {
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

# Names of files; with a pattern those it matches and directories, where there are any.
_NAME_files() {
  local IFS=$'\\n'
  type compopt >/dev/null 2>&1 && compopt -o filenames 2>/dev/null
  COMPREPLY=()
  if [[ -n $1 ]]; then
    COMPREPLY=($(compgen -f -X "!$1" -- "$cur"; compgen -d -- "$cur"))
  fi
  if ((\${#COMPREPLY[@]} == 0)); then
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
}

_NAME_directories() {
  local IFS=$'\\n'
  type compopt >/dev/null 2>&1 && compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -d -- "$cur"))
}
`;

/** Finds the verb, the option whose value is being typed, and which of the other words this is. */
const BODY = `
_NAME() {
  local cur=\${COMP_WORDS[COMP_CWORD]} verb= option= word position=0 skip=0 i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    # --option=value and clock:cycle come as three words.
    if [[ $word == '=' || $word == ':' ]]; then
      skip=1
    elif ((skip)); then
      skip=0
      option=
    elif [[ $word == -* && $word != - ]]; then
      option=
      case $verb:$word in
        VALUED) option=$word; skip=1 ;;
      esac
    elif [[ -z $verb ]]; then
      verb=$word
    else
      position=$((position + 1))
    fi
  done
  if [[ $cur == '=' ]]; then
    cur=
  elif ((!skip)); then
    option=
  fi
`;

export function bashCompletion(model: CommandModel): string {
  const valued = model.verbs.flatMap((verb) =>
    verb.options
      .filter(({ value }) => value !== null)
      .flatMap(({ flags }) => flags.map((flag) => `${verb.name}:${flag}`)),
  );
  const parts = [
    HEAD,
    BODY.replace('VALUED', () => valued.join('|') || "''"),
    '  case $verb:$option in\n',
    ...model.verbs.flatMap((verb) => verb.options.map((option) => valueCase(verb, option))),
    '  esac\n',
    '  if [[ $cur == -* ]]; then\n    case $verb in\n',
    optionCase("''", model.options),
    ...model.verbs.map((verb) => optionCase(verb.name, verb.options)),
    '    esac\n    return\n  fi\n',
    '  case $verb:$position in\n',
    `    :*) _NAME_words '${verbNames(model)}' ;;\n`,
    ...model.verbs.flatMap((verb) => verb.words.map((_, index) => wordCase(model, verb, index))),
    '  esac\n}\n\ncomplete -F _NAME NAME\n',
  ];
  return parts.join('').replaceAll('NAME', model.name);
}

function valueCase(verb: VerbModel, { flags, value }: OptionModel): string {
  if (!value) return '';
  const patterns = flags.map((flag) => `${verb.name}:${flag}`).join('|');
  return `    ${patterns}) ${complete(value)}return ;;\n`;
}

function optionCase(pattern: string, options: readonly OptionModel[]): string {
  return `      ${pattern}) _NAME_words '${options.flatMap(({ flags }) => flags).join(' ')}' ;;\n`;
}

function wordCase(model: CommandModel, verb: VerbModel, index: number): string {
  const word = verb.words[index];
  const isRest = verb.variadic && index === verb.words.length - 1;
  const action = word.kind === 'verb' ? `_NAME_words '${verbNames(model)}'; ` : complete(word);
  return action ? `    ${verb.name}:${isRest ? '*' : index}) ${action};;\n` : '';
}

function complete({ kind, choices }: WordModel): string {
  if (choices.length > 0) return `_NAME_words '${choices.join(' ')}'; `;
  if (kind === 'trace') return "_NAME_files '*.uscope'; ";
  if (kind === 'file') return '_NAME_files; ';
  return kind === 'directory' ? '_NAME_directories; ' : '';
}

function verbNames({ verbs }: CommandModel): string {
  return verbs.map(({ name }) => name).join(' ');
}
