/** Keys to actions. Bindings that the user changed are kept by action. */
import { createKeybindingsHandler } from 'tinykeys';
import { ACTIONS, type Action } from './actions.js';

/** Action -> keys, where they differ from the table. */
export type Bindings = Readonly<Record<string, readonly string[]>>;

export const keysOf = (action: Action, bindings: Bindings): readonly string[] =>
  bindings[action.id] ?? action.keys;

/** What the stored text means; nothing that is wrong in it is used. */
export function parseBindings(text: string | null): Bindings {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    if (typeof value !== 'object' || value === null) return {};
    const known = new Set(ACTIONS.map(({ id }) => id));
    return Object.fromEntries(
      Object.entries(value).filter(
        ([id, keys]) =>
          known.has(id) &&
          Array.isArray(keys) &&
          keys.every((key) => typeof key === 'string' && key.length < 40),
      ),
    );
  } catch {
    return {};
  }
}

/** The key of an event, as bindings write it; null for a modifier alone. */
export function keyOfEvent(event: KeyboardEvent): string | null {
  if (['Shift', 'Control', 'Alt', 'Meta', 'AltGraph'].includes(event.key)) return null;
  const modifiers = [
    event.ctrlKey ? 'Control' : '',
    event.altKey ? 'Alt' : '',
    event.metaKey ? 'Meta' : '',
    event.shiftKey ? 'Shift' : '',
  ].filter((name) => name !== '');
  const key = event.key === ' ' ? 'Space' : event.key.length === 1 ? event.key.toLowerCase() : event.key;
  return [...modifiers, key].join('+');
}

/** @returns the listener to use for `keydown` */
export function keyListener(
  bindings: Bindings,
  run: (action: Action) => void,
): (event: KeyboardEvent) => void {
  const handlers = Object.fromEntries(
    ACTIONS.flatMap((action) =>
      keysOf(action, bindings).map((key) => [
        key,
        (event: KeyboardEvent) => {
          // Text of the page that is selected is copied as everywhere.
          if (key.endsWith('+c') && getSelection()?.isCollapsed === false) return;
          event.preventDefault();
          run(action);
        },
      ]),
    ),
  );
  const handle = createKeybindingsHandler(handlers);
  return (event) => {
    const target = event.target as HTMLElement | null;
    const isTyping = target?.matches?.('input, textarea, select, [contenteditable]') === true;
    if (!isTyping || /^(Escape|F\d+)$/.test(event.key)) handle(event);
  };
}
