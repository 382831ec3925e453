/** Cursors, range and bookmarks above the overview. The pipeline's are painted with its picture, those of tracks by their lanes. */
import { bookmarkTitle } from '../model/places.js';
import { places } from '../page/places/places.js';
import { info } from '../page/store.js';

/** In the overview: x is the whole run. */
export function OverviewMarks() {
  const trace = info.value;
  const { cursors, chosen, range, bookmarks } = places.value;
  if (!trace || cursors.length + bookmarks.length + (range ? 1 : 0) === 0) return null;
  const first = trace.segmentCycles[0]!;
  const cycles = Math.max(1, trace.segmentCycles.at(-1)! - first);
  const part = (cycle: number): number => Math.max(0, Math.min(100, ((cycle - first) / cycles) * 100));
  return (
    <div class="marks" aria-hidden="true">
      {range && (
        <div
          class="mark-range"
          style={{ left: `${part(range.from)}%`, width: `max(1px, ${part(range.to) - part(range.from)}%)` }}
        />
      )}
      {cursors.map(({ id, cycle }) => (
        <div key={id} class={id === chosen ? 'mark-cursor chosen' : 'mark-cursor'} style={{ left: `${part(cycle)}%` }} />
      ))}
      {bookmarks.map((bookmark) => (
        <div key={bookmark.id} class="mark-bookmark" title={bookmarkTitle(bookmark)} style={{ left: `${part(bookmark.cycle)}%` }} />
      ))}
    </div>
  );
}
