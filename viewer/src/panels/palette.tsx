/** Commands by name, and places: `c 20000` a cycle, `j 1200` an instruction. */
import { useMemo, useState } from 'preact/hooks';
import { ACTIONS, type Action, shownKeys } from '../input/actions.js';
import { keysOf } from '../input/keys.js';
import { limits } from '../page/nearest.js';
import { goTo, incidentOf, perform } from '../page/perform.js';
import { bindings, panel } from '../page/store.js';
import { Dialog } from './dialog.js';

interface Entry {
  readonly id: string;
  readonly title: string;
  readonly keys: readonly string[];
  readonly run: () => void;
  /** What is written into the line instead: it asks for a number. */
  readonly asks?: string;
}

const MAX_SHOWN = 12;

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
    } else if (event.key === 'Enter') run(entries[chosen]);
  };
  return (
    <Dialog title="Commands" onClose={close}>
      <input
        class="palette-input"
        aria-label="command or place"
        placeholder="command, or: c 20000 (cycle), j 1200 (instruction), f lw.*sp (find)"
        value={text}
        spellcheck={false}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul class="palette" role="listbox" aria-label="matching commands">
        {entries.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input above handles the keys
          <li
            key={entry.id}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            class={index === chosen ? 'chosen' : ''}
            onClick={() => run(entry)}
            onPointerEnter={() => setChosen(index)}
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

function entriesFor(text: string): Entry[] {
  const place = /^\s*(c|cycle|j|row)?\s*([\d,_]+)\s*$/i.exec(text);
  if (place) {
    const isRow = /^(j|row)$/i.test(place[1] ?? '');
    const title = `go to ${isRow ? 'instruction' : 'cycle'} ${place[2]}`;
    return [{ id: 'place', title, keys: [], run: () => goTo(text) }];
  }
  const incident = incidentOf(text);
  if (incident) {
    const { what, longer, direction } = incident;
    const name = what === 'stall' ? 'stall' : 'gap in retirement';
    const title = `${direction > 0 ? 'next' : 'previous'} ${name} longer than ${longer} cycles`;
    return [{ id: 'incident', title, keys: [], run: () => goTo(text) }];
  }
  const pattern = /^\s*f\s+(\S.*)$/.exec(text)?.[1];
  if (pattern !== undefined) return [{ id: 'find', title: `find ${pattern}`, keys: [], run: () => goTo(text) }];
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== '');
  return ACTIONS.filter(({ title, group, page }) => {
    const name = `${title} ${group}`.toLowerCase();
    const isListed = words.length > 0 || (group !== 'Bookmarks' && page !== 'palette');
    return isListed && words.every((word) => name.includes(word));
  })
    .slice(0, MAX_SHOWN)
    .map(ofAction);
}
