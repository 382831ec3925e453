/** A list to choose from, with a filter: which lanes a track shows. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

interface ChooserProps {
  readonly title: string;
  readonly chosen: readonly string[];
  /** Names that fit a filter, at most `MAX_LISTED`. */
  readonly find: (filter: string) => readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  readonly onClose: () => void;
}

export const MAX_LISTED = 200;

export function Chooser({ title, chosen, find, onChange, onClose }: ChooserProps) {
  const [filter, setFilter] = useState('');
  const box = useRef<HTMLDivElement>(null);
  const found = find(filter);
  const isChosen = new Set(chosen);
  // Chosen ones stay where they are in the list while it is open.
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    box.current?.querySelector('input')?.focus();
    return () => before?.focus?.();
  }, []);
  useEffect(() => {
    const outside = (event: PointerEvent): void => {
      if (!box.current?.contains(event.target as Node)) onClose();
    };
    addEventListener('pointerdown', outside, { capture: true });
    return () => removeEventListener('pointerdown', outside, { capture: true });
  }, []);
  const set = (names: readonly string[], isOn: boolean): void => {
    const rest = chosen.filter((name) => !names.includes(name));
    onChange(isOn ? [...rest, ...names] : rest);
  };
  return (
    <div
      ref={box}
      class="chooser"
      role="dialog"
      aria-label={`choose ${title.toLowerCase()}`}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === 'Escape') onClose();
      }}
    >
      <input
        type="search"
        aria-label={`filter ${title.toLowerCase()}`}
        placeholder="filter by name"
        value={filter}
        spellcheck={false}
        onInput={(event) => setFilter(event.currentTarget.value)}
      />
      <div class="chooser-list">
        {found.map((name) => (
          <label key={name}>
            <input type="checkbox" checked={isChosen.has(name)} onChange={(event) => set([name], event.currentTarget.checked)} />
            <span>{name}</span>
          </label>
        ))}
        {found.length === 0 && <p class="hint">nothing of that name</p>}
      </div>
      <div class="chooser-tools">
        <span class="dim">{`${chosen.length} shown`}</span>
        <span class="fill" />
        <button type="button" class="link" onClick={() => set(found, true)}>
          all listed
        </button>
        <button type="button" class="link" onClick={() => set(found, false)}>
          none listed
        </button>
      </div>
    </div>
  );
}
