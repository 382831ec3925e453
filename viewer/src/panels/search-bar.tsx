/** What is looked for, and how far that is. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { currentEngine } from '../page/perform.js';
import { panel, state } from '../page/store.js';

export function SearchBar() {
  const search = state.value?.search ?? null;
  const [text, setText] = useState(search?.pattern ?? '');
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, []);
  const find = (direction: 1 | -1): void => {
    const isSame = state.value?.search?.pattern === text;
    currentEngine()?.run(isSame ? { do: 'searchNext', direction } : { do: 'search', pattern: text });
  };
  return (
    <search class="search">
      <input
        ref={input}
        aria-label="regular expression to find"
        placeholder="lw.*sp"
        value={text}
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Enter' && find(event.shiftKey ? -1 : 1)}
      />
      <span class="result" role="status">
        {resultText()}
      </span>
      <button type="button" class="tool" aria-label="the match before" title="the match before (Shift+F3)" onClick={() => find(-1)}>
        ↑
      </button>
      <button type="button" class="tool" aria-label="the next match" title="the next match (F3)" onClick={() => find(1)}>
        ↓
      </button>
      <button
        type="button"
        class="tool"
        aria-label="close the search"
        onClick={() => {
          currentEngine()?.run({ do: 'search', pattern: null });
          panel.value = 'none';
        }}
      >
        ×
      </button>
    </search>
  );
}

function resultText(): string {
  const search = state.value?.search;
  if (!search) return 'Enter finds';
  switch (search.status) {
    case 'searching':
      return `searching ${Math.round(search.progress * 100)} %`;
    case 'found':
      return `row ${state.value?.selectedRow ?? ''}`;
    case 'none':
      return 'not found';
    case 'bad':
      return 'not a pattern';
    case 'stopped':
      return '';
  }
}
