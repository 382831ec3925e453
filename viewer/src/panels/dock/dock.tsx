/** The tabs at the right. */
import { changeLayout, layout, resizeDock } from '../../page/layout.js';
import { info } from '../../page/store.js';
import { panelsOf } from '../registry.js';
import { Splitter } from '../splitter.js';

export function Dock() {
  const all = info.value ? panelsOf(info.value, 'tab') : [];
  const { isDockOpen, tab, dockWidth } = layout.value;
  const shown = all.find(({ id }) => id === tab) ?? all[0];
  if (!isDockOpen || !shown) return null;
  const { component: Panel } = shown;
  const step = (direction: number): void => {
    const next = all[(all.indexOf(shown) + direction + all.length) % all.length]!;
    changeLayout({ tab: next.id });
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <>
      <Splitter
        label="width of the side panel"
        kind="column"
        value={dockWidth}
        min={220}
        max={Math.round(innerWidth * 0.6)}
        direction={-1}
        onResize={resizeDock}
      />
      <aside class="dock" style={{ width: `${dockWidth}px` }} aria-label="side panel">
        <div class="tabs" role="tablist" aria-label="side panels">
          {all.map(({ id, title }) => (
            <button
              key={id}
              id={`tab-${id}`}
              type="button"
              role="tab"
              aria-selected={id === shown.id}
              aria-controls="dock-panel"
              tabIndex={id === shown.id ? 0 : -1}
              onClick={() => changeLayout({ tab: id })}
              onKeyDown={(event) => {
                const direction = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
                if (direction === 0) return;
                event.preventDefault();
                event.stopPropagation();
                step(direction);
              }}
            >
              {title}
            </button>
          ))}
          <span class="fill" />
          <button
            type="button"
            class="close-panel"
            aria-label="close the side panel"
            title="close"
            onClick={() => changeLayout({ isDockOpen: false })}
          >
            ×
          </button>
        </div>
        <div id="dock-panel" class="dock-panel" role="tabpanel" aria-labelledby={`tab-${shown.id}`}>
          <Panel />
        </div>
      </aside>
    </>
  );
}
