/** Names and the variables in them: `core${core}` becomes `core0`. */

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;
/** Keys of DUT properties may carry a scope path as prefix. */
const DUT_KEY = /^[A-Za-z_][A-Za-z0-9_.-]*(\/[A-Za-z_][A-Za-z0-9_.-]*)*$/;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const VARIABLE = /\$\{[A-Za-z_][A-Za-z0-9_]*\}/g;
/** `$${` is a literal `${`; `${name}` a variable; anything else that begins with `${` is malformed. */
const PLACEHOLDER = /\$\$\{|\$\{([^}]*)(\}?)/g;

export const NAME_RULE = 'a letter or _ first, then letters, digits, _ . -';

export function isName(text: string, allowVariables = false): boolean {
  return NAME.test(allowVariables ? text.replace(VARIABLE, '_') : text);
}

export function isDutKey(text: string, allowVariables = false): boolean {
  return DUT_KEY.test(allowVariables ? text.replace(VARIABLE, '_') : text);
}

export function isVariableName(text: string): boolean {
  return VARIABLE_NAME.test(text);
}

/** Text that binds to itself, whatever it holds. */
export function escapeVariables(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/**
 * Replaces the variables in a text. `onProblem` hears of one without a value, or of a malformed one (`name` undefined), and says
 * what to put in its place.
 * @param onLength hears the length of the result as it grows, before it is there, and may throw
 */
export function bindText(
  text: string,
  variables: ReadonlyMap<string, string>,
  onProblem: (placeholder: string, name: string | undefined) => string,
  onLength: (length: number) => void,
): string {
  if (!text.includes('${')) return text;
  const pieces: string[] = [];
  let length = 0;
  let copied = 0;
  const add = (piece: string): void => {
    length += piece.length;
    onLength(length);
    pieces.push(piece);
  };
  for (const match of text.matchAll(PLACEHOLDER)) {
    add(text.slice(copied, match.index));
    add(bound(match, variables, onProblem));
    copied = match.index + match[0].length;
  }
  add(text.slice(copied));
  return pieces.join('');
}

function bound(
  [placeholder, name, close]: RegExpExecArray,
  variables: ReadonlyMap<string, string>,
  onProblem: (placeholder: string, name: string | undefined) => string,
): string {
  if (name === undefined) return '${';
  if (close === '' || !isVariableName(name)) return onProblem(placeholder, undefined);
  return variables.get(name) ?? onProblem(placeholder, name);
}
