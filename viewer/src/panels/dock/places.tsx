/** Cursors with what lies between them, the range, and bookmarks with their notes. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type Difference, difference, durationText } from '../../model/difference.js';
import { type Bookmark, bookmarkTitle, type Cursor, MAX_NAME, MAX_NOTE } from '../../model/places.js';
import { grouped } from '../../model/ticks.js';
import { addCursorHere, clearRange, goBookmark, setBookmark, showCycle, zoomToRange } from '../../page/places/place-actions.js';
import {
  bookmarks,
  chooseCursor,
  chosenCursor,
  cursors,
  putBookmark,
  range,
  removeBookmark,
  removeCursor,
} from '../../page/places/places.js';
import { followRetired, retiredBefore } from '../../page/places/retired-counts.js';
import { core, info } from '../../page/store.js';

const period = (): number => core.value?.periodPs ?? info.value?.clock?.periodPs ?? 0;

const between = (from: number, to: number): Difference =>
  difference(from, to, period(), [retiredBefore.value.get(from), retiredBefore.value.get(to)]);

export function PlacesPanel() {
  useEffect(followRetired, []);
  return (
    <div class="places">
      <Cursors />
      <Range />
      <Bookmarks />
    </div>
  );
}

function Cursors() {
  const reference = useSignal<'before' | 'chosen'>('before');
  const all = cursors.value;
  const chosen = all.find(({ id }) => id === chosenCursor.value);
  const from = (index: number): Cursor | undefined =>
    reference.value === 'before' ? all[index - 1] : chosen === all[index] ? undefined : chosen;
  return (
    <section aria-label="cursors">
      <header>
        <h3>Cursors</h3>
        {all.length > 1 && (
          <label class="choice">
            <select
              aria-label="differences to"
              value={reference.value}
              onChange={(event) => {
                reference.value = event.currentTarget.value as 'before' | 'chosen';
              }}
            >
              <option value="before">to the one before</option>
              <option value="chosen">to the chosen one</option>
            </select>
          </label>
        )}
        <span class="fill" />
        <button type="button" class="tool" onClick={addCursorHere} title="add a cursor (m)">
          add
        </button>
      </header>
      {all.length === 0 ? (
        <p class="hint">
          <kbd>m</kbd> adds one where the pointer is, or in the middle.
        </p>
      ) : (
        <table class="differences">
          <thead>
            <tr>
              <th scope="col">#</th>
              <th scope="col">cycle</th>
              <th scope="col">cycles</th>
              <th scope="col">time</th>
              <th scope="col">retired</th>
              <th scope="col">IPC</th>
              <th />
            </tr>
          </thead>
          <tbody>
            {all.map((cursor, index) => (
              <CursorRow key={cursor.id} cursor={cursor} from={from(index)} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function CursorRow({ cursor: { id, cycle }, from }: { cursor: Cursor; from: Cursor | undefined }) {
  const isChosen = id === chosenCursor.value;
  const apart = from ? between(from.cycle, cycle) : null;
  return (
    <tr class={isChosen ? 'chosen' : ''}>
      <td>
        <button
          type="button"
          class="badge cursor"
          aria-pressed={isChosen}
          aria-label={`cursor ${id}, cycle ${cycle}`}
          onClick={() => {
            chooseCursor(id);
            showCycle(cycle);
          }}
        >
          {id}
        </button>
      </td>
      <td class="num" title={durationText(cycle * (period() || 1))}>
        {grouped(cycle)}
      </td>
      <td class="num">{apart?.cycles}</td>
      <td class="num">{apart?.time}</td>
      <td class="num">{apart?.retired}</td>
      <td class="num">{apart?.ipc}</td>
      <td>
        <Remove label={`remove cursor ${id}`} onClick={() => removeCursor(id)} />
      </td>
    </tr>
  );
}

function Range() {
  const shown = range.value;
  const apart = shown && between(shown.from, shown.to);
  return (
    <section aria-label="range">
      <header>
        <h3>Range</h3>
        <span class="fill" />
        {shown && (
          <button type="button" class="tool" onClick={zoomToRange} title="show all of it (Shift+Z)">
            show
          </button>
        )}
        {shown && (
          <button type="button" class="tool" onClick={clearRange} title="no range (Shift+Delete)">
            clear
          </button>
        )}
      </header>
      {shown && apart ? (
        <p class="numbers">
          {grouped(shown.from)} to {grouped(shown.to - 1)}: {apart.cycles} cycles, {apart.time}
          {apart.retired !== '' && `, ${apart.retired} retired, IPC ${apart.ipc}`}
        </p>
      ) : (
        <p class="hint">
          Shift and drag on the axis, or <kbd>Shift+M</kbd> between cursors.
        </p>
      )}
    </section>
  );
}

function Bookmarks() {
  const all = bookmarks.value;
  return (
    <section aria-label="bookmarks">
      <header>
        <h3>Bookmarks</h3>
        <span class="fill" />
        <button type="button" class="tool" onClick={() => setBookmark(null)} title="bookmark this view (b b)">
          add
        </button>
      </header>
      {all.length === 0 && (
        <p class="hint">
          <kbd>b</kbd> <kbd>0</kbd> to <kbd>b</kbd> <kbd>9</kbd> set one, <kbd>0</kbd> to <kbd>9</kbd> go there.
        </p>
      )}
      <ul>
        {all.map((bookmark) => (
          <BookmarkRow key={bookmark.id} bookmark={bookmark} />
        ))}
      </ul>
    </section>
  );
}

function BookmarkRow({ bookmark }: { bookmark: Bookmark }) {
  const { id, name, note, cycle } = bookmark;
  const title = bookmarkTitle(bookmark);
  return (
    <li>
      <div class="line">
        <button type="button" class="badge bookmark" aria-label={`go to ${title}`} title="go there" onClick={() => goBookmark(id)}>
          {id.length === 1 ? id : '→'}
        </button>
        <input
          id={`bookmark-${id}`}
          class="plain"
          aria-label={`name of bookmark ${id}`}
          placeholder={`bookmark ${id}`}
          maxLength={MAX_NAME}
          value={name}
          onChange={(event) => putBookmark({ ...bookmark, name: event.currentTarget.value })}
        />
        <span class="num dim">{grouped(cycle)}</span>
        <Remove label={`remove ${title}`} onClick={() => removeBookmark(id)} />
      </div>
      <textarea
        class="plain"
        aria-label={`note of ${title}`}
        placeholder="note"
        rows={Math.max(1, Math.min(6, note.split('\n').length))}
        maxLength={MAX_NOTE}
        value={note}
        onChange={(event) => putBookmark({ ...bookmark, note: event.currentTarget.value })}
      />
    </li>
  );
}

function Remove({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <button type="button" class="remove" aria-label={label} title="remove" onClick={onClick}>
      ×
    </button>
  );
}
