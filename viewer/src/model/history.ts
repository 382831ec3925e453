/** Undo and redo of one value. */
const MAX_STEPS = 200;

export interface Undoable<T> {
  readonly now: T;
  readonly past: readonly T[];
  readonly future: readonly T[];
}

export const undoable = <T>(now: T): Undoable<T> => ({ now, past: [], future: [] });

/** @param joins the change continues the one before: both are undone together */
export function changed<T>(history: Undoable<T>, next: T, joins = false): Undoable<T> {
  if (next === history.now) return history;
  const past = joins ? history.past : [...history.past, history.now].slice(-MAX_STEPS);
  return { now: next, past, future: [] };
}

export function undone<T>({ now, past, future }: Undoable<T>): Undoable<T> | null {
  return past.length === 0
    ? null
    : { now: past.at(-1)!, past: past.slice(0, -1), future: [now, ...future].slice(0, MAX_STEPS) };
}

export function redone<T>({ now, past, future }: Undoable<T>): Undoable<T> | null {
  return future.length === 0
    ? null
    : { now: future[0]!, past: [...past, now].slice(-MAX_STEPS), future: future.slice(1) };
}
