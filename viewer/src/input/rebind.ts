/** Bindings that the user changed: what they mean together, and which exclude each other. */
import { ACTIONS, type Action } from './actions.js';
import { type Bindings, keysOf, parseBindings } from './keys.js';

/** Two bindings of which one keeps the other from working. */
interface Conflict {
  readonly key: string;
  readonly action: Action;
  /** Its key, which is the same, or the beginning of `key` or the other way round. */
  readonly otherKey: string;
  readonly other: Action;
}

/** `b` and `b 3`: the first would be carried out before the second is typed. */
function excludes(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b} `) || b.startsWith(`${a} `);
}

/** What a key would collide with. @param action the one that the key is for */
export function conflictsOf(action: Action, key: string, bindings: Bindings): Conflict[] {
  return ACTIONS.flatMap((other) =>
    other.id === action.id
      ? []
      : keysOf(other, bindings)
          .filter((otherKey) => excludes(key, otherKey))
          .map((otherKey) => ({ key, action, otherKey, other })),
  );
}

/** All of them, each once. */
export function allConflicts(bindings: Bindings): Conflict[] {
  const order = new Map(ACTIONS.map(({ id }, index) => [id, index]));
  return ACTIONS.flatMap((action) =>
    keysOf(action, bindings).flatMap((key) => conflictsOf(action, key, bindings)),
  ).filter(({ action, other }) => order.get(action.id)! < order.get(other.id)!);
}

/** One more key for an action; what it collides with keeps its key: the user decides. */
export function addKey(action: Action, key: string, bindings: Bindings): Bindings {
  const keys = keysOf(action, bindings);
  return keys.includes(key) ? bindings : normal({ ...bindings, [action.id]: [...keys, key] });
}

export function removeKey(action: Action, key: string, bindings: Bindings): Bindings {
  return normal({ ...bindings, [action.id]: keysOf(action, bindings).filter((one) => one !== key) });
}

/** As at first, of one action. */
export function resetKeys(action: Action, bindings: Bindings): Bindings {
  const { [action.id]: _, ...rest } = bindings;
  return rest;
}

/** Without what is as in the table. */
function normal(bindings: Bindings): Bindings {
  const isOwn = ([id, keys]: [string, readonly string[]]): boolean =>
    ACTIONS.find((action) => action.id === id)?.keys.join('\n') !== keys.join('\n');
  return Object.fromEntries(Object.entries(bindings).filter(isOwn));
}

const KIND = 'uscope viewer keys';

/** A file with the bindings that differ from the table. */
export const exportBindings = (bindings: Bindings): string =>
  `${JSON.stringify({ kind: KIND, version: 1, keys: bindings }, null, 2)}\n`;

/** null: it is not such a file. What is wrong in it is left out. */
export function importBindings(text: string): Bindings | null {
  try {
    const value = JSON.parse(text) as { kind?: unknown; keys?: unknown };
    return value?.kind === KIND ? normal(parseBindings(JSON.stringify(value.keys ?? {}))) : null;
  } catch {
    return null;
  }
}
