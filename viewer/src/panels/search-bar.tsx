/** What is looked for, with what may be written, and how far that is. */
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { type Completions, completionsOf, type SearchNames } from 'uscope/search';
import { grouped } from '../model/ticks.js';
import { currentEngine } from '../page/threads/current-engine.js';
import { reveal } from '../page/layout.js';
import { beginSearch, clearSearch, ignoresCase, search, stepSearch, stopSearch } from '../page/questions/search.js';
import { info, panel } from '../page/store.js';

const NO_NAMES: SearchNames = { stalls: [], flushes: [], events: [], fields: {} };

export function SearchBar() {
  const text = useSignal(search.value?.pattern ?? '');
  const names = useSignal(NO_NAMES);
  const offered = useSignal<Completions | null>(null);
  const chosen = useSignal(-1);
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, []);
  useEffect(() => {
    currentEngine()
      ?.questionThread('search')
      .ask('searchNames', null)
      .then((known) => {
        names.value = known;
      })
      .catch(() => undefined);
  }, [info.value]);
  const offer = (): void => {
    const caret = input.current?.selectionStart ?? text.value.length;
    const next = completionsOf(text.value, caret, names.value);
    offered.value = next.choices.length > 0 && text.value.trim() !== '' ? next : null;
    chosen.value = -1;
  };
  // A name that is not whole is not there, or finds nothing: what it may become is offered once more.
  const { status, hits, pattern } = search.value ?? {};
  const isInVain = (status === 'bad' || (status === 'done' && hits?.rows.length === 0)) && pattern === text.value;
  useEffect(() => {
    if (isInVain) offer();
  }, [isInVain]);
  const take = (index: number): void => {
    const { from, to, choices } = offered.value!;
    const inserted = choices[index]!.text;
    text.value = text.value.slice(0, from) + inserted + text.value.slice(to);
    const caret = from + inserted.length;
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(caret, caret);
      offer();
    });
  };
  const go = (direction: 1 | -1): void => {
    offered.value = null;
    const isSame = search.value?.pattern === text.value && search.value.status !== 'stopped';
    if (isSame) stepSearch(direction);
    else beginSearch(text.value);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const choices = offered.value?.choices ?? [];
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0 && choices.length > 0) {
      event.preventDefault();
      chosen.value = (chosen.value + step + choices.length) % choices.length;
    } else if (event.key === 'Tab' && choices.length > 0 && !event.shiftKey) {
      event.preventDefault();
      take(Math.max(0, chosen.value));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      if (chosen.value >= 0 && choices.length > 0) take(chosen.value);
      else go(event.shiftKey ? -1 : 1);
    } else if (event.key === 'Escape' && offered.value) {
      event.stopPropagation();
      offered.value = null;
    }
  };
  return (
    <search class="search">
      <div class="search-line">
        <input
          ref={input}
          role="combobox"
          aria-label="what to find"
          aria-expanded={offered.value !== null}
          aria-controls="search-completions"
          aria-activedescendant={chosen.value >= 0 ? `completion-${chosen.value}` : undefined}
          aria-autocomplete="list"
          autocomplete="off"
          placeholder="lw.*sp  pc:0x80000000-0x800000ff  stall:…"
          value={text.value}
          spellcheck={false}
          onInput={(event) => {
            text.value = event.currentTarget.value;
            offer();
          }}
          onBlur={() => {
            offered.value = null;
          }}
          onKeyDown={onKeyDown}
        />
        <button
          type="button"
          class={ignoresCase.value ? 'tool' : 'tool on'}
          aria-pressed={!ignoresCase.value}
          aria-label="upper and lower case differ"
          title="upper and lower case differ"
          onClick={() => {
            ignoresCase.value = !ignoresCase.value;
            if (text.value !== '') beginSearch(text.value);
          }}
        >
          Aa
        </button>
        <span class="result" role="status">
          {resultText()}
        </span>
        <button type="button" class="tool" aria-label="the match before" title="the match before (Shift+F3)" onClick={() => go(-1)}>
          ↑
        </button>
        <button type="button" class="tool" aria-label="the next match" title="the next match (F3)" onClick={() => go(1)}>
          ↓
        </button>
        <button type="button" class="tool" aria-label="list of the matches" title="list of the matches" onClick={() => reveal('results')}>
          ☰
        </button>
        {search.value?.status === 'searching' && (
          <button type="button" class="tool" aria-label="stop the search" title="stop (Esc)" onClick={stopSearch}>
            ■
          </button>
        )}
        <button
          type="button"
          class="tool"
          aria-label="close the search"
          title="close (Esc)"
          onClick={() => {
            clearSearch();
            panel.value = 'none';
          }}
        >
          ×
        </button>
      </div>
      {search.value?.status === 'bad' && (
        <p class="flush">
          {search.value.problem ? `${search.value.problem.code}: ${search.value.problem.what}` : 'The search failed.'}
        </p>
      )}
      {offered.value && (
        <ul id="search-completions" class="completions" role="listbox" aria-label="what may be written here">
          {offered.value.choices.slice(0, 12).map((choice, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the input above handles the keys
            <li
              key={choice.text}
              id={`completion-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen.value}
              class={index === chosen.value ? 'chosen' : ''}
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => take(index)}
            >
              <code>{choice.text}</code>
              <span class="dim">{choice.hint}</span>
            </li>
          ))}
        </ul>
      )}
    </search>
  );
}

export function resultText(): string {
  const now = search.value;
  if (!now) return 'Enter finds';
  const { hits, current, status, progress } = now;
  const place = current === null ? '' : `${grouped(current + 1)} of `;
  const count = `${place}${grouped(hits.count)}`;
  switch (status) {
    case 'searching':
      return `${count} … ${Math.floor(progress * 100)} %`;
    case 'done':
      return hits.count === 0 ? 'not found' : count;
    case 'stopped':
      return `${count}, stopped`;
    case 'bad':
      return 'cannot be used';
  }
}
