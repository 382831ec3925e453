/** One letter per stage. */

/** X is kept for squashed instructions. */
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWYZ';
/** For stages beyond the letters, and values that are not stage. */
export const NO_LETTER = '#';

/**
 * For each stage a capital letter: the first of its name that is free, else any free one.
 * @param stages in pipeline order: the earlier ones choose first
 */
export function stageLetters(stages: readonly string[]): string[] {
  const free = new Set(LETTERS);
  const take = (candidates: Iterable<string>): string | undefined => {
    for (const letter of candidates) if (free.delete(letter)) return letter;
    return undefined;
  };
  // First letters go first, then other letters of a name: "issue" must not lose its I to the second letter of "rISc".
  const letters = stages.map((name) => take(name.slice(0, 1).toUpperCase()));
  for (const candidates of [(name: string) => name.toUpperCase(), () => LETTERS]) {
    for (const [index, name] of stages.entries()) letters[index] ??= take(candidates(name));
  }
  return letters.map((letter) => letter ?? NO_LETTER);
}
