/** Short names of stages, for boxes too narrow for the whole. */

/** The shortest beginnings that distinguish the names, at most three letters; the first letter is a capital. */
export function shortNames(names: readonly string[]): string[] {
  return names.map((name) => {
    for (let length = 1; length <= 3; length++) {
      const start = name.slice(0, length);
      const others = names.filter((other) => other !== name && other.slice(0, length) === start);
      if (others.length === 0 || length === 3) return start.charAt(0).toUpperCase() + start.slice(1);
    }
    return name;
  });
}
