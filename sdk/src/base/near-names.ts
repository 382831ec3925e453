/** Names as a message lists them, when one is asked for that is not there: those that look like it first. */

const LISTED = 12;
/** The limit of names that are looked at, the first ones: a message must not take seconds. */
const COMPARED = 10_000;
/** Longer names are not compared: nobody mistypes them. */
const LONGEST = 64;

/** `near: flush; it has: annotate, flush, …` without the first part where nothing looks like it. */
export function namesNear(wanted: string, names: readonly string[]): string {
  const near = nearest(wanted, names);
  const listed = names.slice(0, LISTED).join(', ') + (names.length > LISTED ? ', …' : '');
  const all = `it has: ${listed || 'none'}`;
  return near.length > 0 ? `near it: ${near.join(', ')}; ${all}` : all;
}

function nearest(wanted: string, names: readonly string[]): string[] {
  const key = lastPart(wanted);
  const most = Math.max(1, Math.floor(key.length / 3));
  return names
    .slice(0, COMPARED)
    .map((name) => ({ name, distance: distanceOf(key, lastPart(name)) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ name }) => name);
}

/** The name that a mistyped one most likely means: at most every fifth letter is wrong. undefined: none is close. */
export function closestName(wanted: string, names: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(wanted.length / 5));
  const distances = names
    .filter(({ length }) => length <= LONGEST && Math.abs(length - wanted.length) <= most)
    .map((name) => ({ name, distance: lettersBetween(wanted, name) }));
  const [best] = distances.sort((a, b) => a.distance - b.distance);
  return best !== undefined && best.distance <= most ? best.name : undefined;
}

const lastPart = (name: string): string => name.slice(name.lastIndexOf('/') + 1).toLowerCase();

/** Like `lettersBetween`, but 1 where one continues the other. */
function distanceOf(a: string, b: string): number {
  return a.length > 2 && b.startsWith(a) ? 1 : lettersBetween(a, b);
}

/** Letters that are changed, left out or added. */
function lettersBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length];
}
