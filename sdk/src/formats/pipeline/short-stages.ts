/** Short names of stages, for viewers in which a cycle has a fixed width. */

const MAX_LETTERS = 3;

/**
 * At most three letters each, all different: the shortest beginnings that tell the names apart, the first letter a capital. Names of three letters or
 * fewer stay as they are where they can; those that three letters do not tell apart get a number (`S1`, `S2`).
 */
export function shortStageNames(names: readonly string[]): string[] {
  const taken = new Set(names.filter((name) => name.length <= MAX_LETTERS));
  return names.map((name) => (name.length <= MAX_LETTERS ? name : shortened(name, names, taken)));
}

function shortened(name: string, names: readonly string[], taken: Set<string>): string {
  for (let length = 1; length <= MAX_LETTERS; length++) {
    const start = name.slice(0, length);
    const isShared = names.some((other) => other !== name && other.startsWith(start));
    if (!isShared && claim(capital(start), taken)) return capital(start);
  }
  for (let number = 1; ; number++) {
    const numbered = `${capital(name.slice(0, 1))}${number}`;
    if (claim(numbered, taken)) return numbered;
  }
}

function claim(name: string, taken: Set<string>): boolean {
  if (taken.has(name)) return false;
  taken.add(name);
  return true;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
