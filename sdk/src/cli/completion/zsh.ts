/** Completion for zsh, as a function for `_arguments`. */
import type { CommandModel, OptionModel, VerbModel, WordModel } from './model.js';

export function zshCompletion(model: CommandModel): string {
  const { name, verbs } = model;
  const list = verbs.map((verb) => `    ${quote(`${verb.name}:${verb.summary}`)}`).join('\n');
  return `#compdef ${name}
# zsh completion for ${name}; put it into a directory of $fpath as _${name}, or load it with: source <(${name} completion zsh)

_${name}_verbs() {
  local -a verbs
  verbs=(
${list}
  )
  _describe verb verbs
}

_${name}() {
  local curcontext="$curcontext" state line
  local -A opt_args
  _arguments -C \\
${specs(model.options)}
    '1: :_${name}_verbs' \\
    '*:: :->arguments'
  [[ $state == arguments ]] || return
  case $line[1] in
${verbs.map((verb) => verbCase(model, verb)).join('\n')}
  esac
}

if [[ $funcstack[1] == _${name} ]]; then
  _${name} "$@"
else
  compdef _${name} ${name}
fi
`;
}

function verbCase({ name }: CommandModel, verb: VerbModel): string {
  const words = verb.words.map((word, index) => {
    const isRest = verb.variadic && index === verb.words.length - 1;
    return `        ${quote(`${isRest ? '*' : index + 1}: :${action(name, word)}`)}`;
  });
  const lines = [...verb.options.flatMap(specsOf).map((spec) => `        ${spec}`), ...words];
  return `    ${verb.name})\n      _arguments \\\n${lines.join(' \\\n')}\n      ;;`.replaceAll('@NAME', name);
}

function specs(options: readonly OptionModel[]): string {
  return options
    .flatMap(specsOf)
    .map((spec) => `    ${spec} \\`)
    .join('\n');
}

/** One per flag: `'--from=[first time]: :'`. */
function specsOf({ flags, description, value, repeatable }: OptionModel): string[] {
  const text = description.replace(/[[\]\\]/g, '\\$&').replaceAll(':', '\\:');
  const others = repeatable || flags.length < 2 ? '' : `(${flags.join(' ')})`;
  return flags.map((flag) => {
    const form = value === null ? flag : flag.startsWith('--') ? `${flag}=` : `${flag}+`;
    const argument = value === null ? '' : `: :${action('@NAME', value)}`;
    return quote(`${repeatable ? '*' : others}${form}[${text}]${argument}`);
  });
}

function action(name: string, { kind, choices }: WordModel): string {
  if (choices.length > 0) return `(${choices.join(' ')})`;
  if (kind === 'verb') return `_${name}_verbs`;
  if (kind === 'trace') return '_files -g "*.uscope(-.)"';
  if (kind === 'file') return '_files';
  return kind === 'directory' ? '_files -/' : ' ';
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
