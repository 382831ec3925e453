/** What the search found, as a list: only the lines in sight are made. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { MAX_LISTED_HITS } from '../../model/hits.js';
import { grouped } from '../../model/ticks.js';
import { goToHit } from '../../page/questions/search.js';
import { search } from '../../page/questions/search.js';
import { panel } from '../../page/store.js';
import { resultText } from '../search-bar.js';

const LINE = 20;

export function Results() {
  const top = useSignal(0);
  const height = useSignal(400);
  const box = useRef<HTMLDivElement>(null);
  const current = search.value?.current ?? null;
  useEffect(() => {
    const list = box.current;
    if (!list || current === null) return;
    const place = current * LINE;
    if (place < list.scrollTop || place + LINE > list.scrollTop + list.clientHeight)
      list.scrollTop = place - list.clientHeight / 2;
  }, [current]);
  useEffect(() => {
    const list = box.current;
    if (!list) return;
    const observer = new ResizeObserver(() => {
      height.value = list.clientHeight;
    });
    observer.observe(list);
    return () => observer.disconnect();
  }, [search.value === null]);
  const now = search.value;
  if (!now) {
    return (
      <p class="hint">
        <button
          type="button"
          class="link"
          onClick={() => {
            panel.value = 'search';
          }}
        >
          Find
        </button>{' '}
        instructions and events with Ctrl+F.
      </p>
    );
  }
  const { hits } = now;
  const count = hits.texts.length;
  const first = Math.max(0, Math.floor(top.value / LINE) - 4);
  const last = Math.min(count, Math.ceil((top.value + height.value) / LINE) + 4);
  return (
    <div class="results">
      <p class="dim">
        <code>{now.pattern}</code> {resultText()}
        {hits.count > MAX_LISTED_HITS && `; the first ${grouped(MAX_LISTED_HITS)} are listed`}
      </p>
      <div
        ref={box}
        class="result-list"
        role="listbox"
        aria-label="matches"
        tabIndex={0}
        onScroll={(event) => {
          top.value = event.currentTarget.scrollTop;
        }}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
          if (step === 0 || count === 0) return;
          event.preventDefault();
          event.stopPropagation();
          goToHit(Math.max(0, Math.min(count - 1, (current ?? -1) + step)));
        }}
      >
        <div style={{ height: `${count * LINE}px` }}>
          {hits.texts.slice(first, last).map((text, offset) => {
            const index = first + offset;
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
              <div
                key={index}
                role="option"
                tabIndex={-1}
                aria-selected={index === current}
                class={index === current ? 'result-line chosen' : 'result-line'}
                style={{ top: `${index * LINE}px` }}
                title={text}
                onClick={() => goToHit(index)}
              >
                <span class="num dim">{grouped(hits.cycles[index]!)}</span>
                <span class="num dim">{hits.rows[index]! >= 0 ? `#${grouped(hits.rows[index]!)}` : ''}</span>
                <code>{text}</code>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
