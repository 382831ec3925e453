/** All commands by name, and places: `c 20000` a cycle, `j 1200` an instruction. */
import { useMemo, useState } from 'preact/hooks';
import { ACTIONS, type Action, shownKeys } from '../../input/actions.js';
import { keysOf } from '../../input/keys.js';
import { goTo, targetOf, titleOf } from '../../page/go-to.js';
import { limits } from '../../page/questions/nearest.js';
import { perform } from '../../page/perform.js';
import { bindings, panel } from '../../page/store.js';
import { Dialog } from './dialog.js';

interface Entry {
  readonly id: string;
  readonly title: string;
  readonly keys: readonly string[];
  readonly run: () => void;
  /** What is written into the line instead: it asks for a number. */
  readonly asks?: string;
}

export function Palette() {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const entries = useMemo(() => entriesFor(text), [text]);
  const close = (): void => {
    panel.value = 'none';
  };
  const run = (entry: Entry | undefined): void => {
    if (entry?.asks !== undefined) {
      // The number is changed, or taken with Enter.
      setText(entry.asks);
      setChosen(0);
      return;
    }
    close();
    entry?.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setChosen((chosen + step + entries.length) % Math.max(1, entries.length));
    } else if (event.key === 'Enter') {
      // The focus returns to a button, which must not take the key.
      event.preventDefault();
      run(entries[chosen]);
    }
  };
  return (
    <Dialog title="Commands" onClose={close}>
      <input
        class="palette-input"
        role="combobox"
        aria-label="command or place"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={entries[chosen] ? `palette-${entries[chosen].id}` : undefined}
        placeholder="command, or: c 20000 (cycle), j 1200 (instruction), jr 900 (retired), f lw.*sp (find)"
        value={text}
        spellcheck={false}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="palette-list" class="palette" role="listbox" aria-label="matching commands">
        {entries.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input above handles the keys
          <li
            key={entry.id}
            id={`palette-${entry.id}`}
            ref={index === chosen ? (element) => element?.scrollIntoView({ block: 'nearest' }) : null}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            class={index === chosen ? 'chosen' : ''}
            onClick={() => run(entry)}
            onPointerMove={({ movementX, movementY }) => {
              // A list that comes or changes below a pointer at rest chooses nothing.
              if (movementX !== 0 || movementY !== 0) setChosen(index);
            }}
          >
            <span>{entry.title}</span>
            <span>{entry.keys.slice(0, 2).map((key) => <kbd key={key}>{key}</kbd>)}</span>
          </li>
        ))}
        {entries.length === 0 && <li class="dim">nothing of that name</li>}
      </ul>
    </Dialog>
  );
}

const ofAction = (action: Action): Entry => ({
  id: action.id,
  title: action.title,
  keys: shownKeys(keysOf(action, bindings.value)),
  run: () => perform(action),
  ...askOf(action),
});

function askOf({ nearest }: Action): { asks: string } | null {
  if (!nearest || nearest.what === 'flush') return null;
  const { what, direction } = nearest;
  return { asks: `${what} ${direction < 0 ? '-' : ''}${limits.value[what]}` };
}

/** Places come first; then the actions whose names have all of the words, those that begin with them first. */
function entriesFor(text: string): Entry[] {
  const target = targetOf(text);
  if (target) return [{ id: 'place', title: titleOf(target), keys: [], run: () => void goTo(target) }];
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const begins = (name: string): boolean => name.toLowerCase().startsWith(words[0] ?? '');
  const rank = ({ id, title }: Action): number => (begins(id) || begins(title) ? 0 : 1);
  return ACTIONS.filter(({ id, title, group, page }) => {
    const name = `${id} ${title} ${group}`.toLowerCase();
    return page !== 'palette' && words.every((word) => name.includes(word));
  })
    .sort((a, b) => rank(a) - rank(b))
    .map(ofAction);
}
