/** The text of a question, with a list of what the word at the cursor may become. */
import { useComputed, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { ask, names, question } from './state.js';
import { completions, wordsOf } from './words.js';

export function Editor() {
  const box = useRef<HTMLTextAreaElement>(null);
  /** Where the cursor is; -1: there is no list. */
  const cursor = useSignal(-1);
  const chosen = useSignal(0);
  const words = useComputed(() => (names.value ? wordsOf(names.value) : []));
  const list = cursor.value < 0 ? null : completions(words.value, question.value, cursor.value);
  const offered = list?.words ?? [];
  const take = (index: number): void => {
    const area = box.current;
    const word = offered[index];
    if (!area || !list || !word) return;
    const after = area.value.slice(cursor.value);
    question.value = area.value.slice(0, list.from) + word.text + after;
    const place = list.from + word.text.length;
    cursor.value = -1;
    requestAnimationFrame(() => {
      area.focus();
      area.setSelectionRange(place, place);
    });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // Letters typed here are not commands of the picture.
    event.stopPropagation();
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      cursor.value = -1;
      void ask();
    } else if (offered.length === 0) return;
    else if (step !== 0) chosen.value = (chosen.value + step + offered.length) % offered.length;
    else if (event.key === 'Tab' && !event.shiftKey) take(chosen.value);
    else if (event.key === 'Escape') cursor.value = -1;
    else return;
    event.preventDefault();
  };
  return (
    <div class="sql-editor">
      <textarea
        ref={box}
        id="sql-question"
        aria-label="question in SQL"
        aria-controls="sql-words"
        aria-activedescendant={offered.length > 0 ? `sql-word-${chosen.value}` : undefined}
        spellcheck={false}
        rows={4}
        value={question.value}
        onInput={(event) => {
          question.value = event.currentTarget.value;
          cursor.value = event.currentTarget.selectionStart;
          chosen.value = 0;
        }}
        onKeyDown={onKeyDown}
        onBlur={() => (cursor.value = -1)}
      />
      {offered.length > 0 && (
        <ul id="sql-words" class="sql-words" role="listbox" aria-label="words">
          {offered.map(({ text, hint }, index) => (
            <li
              key={text}
              id={`sql-word-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen.value}
              // The text keeps the focus.
              onMouseDown={(event) => {
                event.preventDefault();
                take(index);
              }}
            >
              <code>{text}</code> <span class="dim">{hint}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
