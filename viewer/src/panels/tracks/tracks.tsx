/** The tracks below the pipeline, each with a line above it that changes its height. */
import { isShown, resizeTrack, trackSize } from '../../page/layout.js';
import { info } from '../../page/store.js';
import { panelsOf } from '../registry.js';
import { Splitter } from '../splitter.js';

/** @param fills whether the tracks take all of the column: there is no pipeline above them */
export function Tracks({ fills }: { fills: boolean }) {
  const shown = info.value ? panelsOf(info.value, 'track').filter(({ id }) => isShown(id)) : [];
  return (
    <>
      {shown.map(({ id, title, component: Track }) => {
        const size = trackSize(id);
        return (
          <section
            key={id}
            class="track"
            aria-label={title}
            style={{ flex: fills ? `${size} 1 ${size}px` : `0 1 ${size}px` }}
          >
            <Splitter
              label={`height of ${title.toLowerCase()}`}
              kind="row"
              value={size}
              min={40}
              max={Math.max(40, Math.round(innerHeight * 0.8))}
              direction={-1}
              onResize={(height) => resizeTrack(id, height)}
            />
            <Track />
          </section>
        );
      })}
    </>
  );
}
