/** How the trace is being written: rate and warnings of the daemon in the status line, and a menu with what `uscope ctl` does. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type Action, command, followRecording, mayCommand, outcome, recording } from '../page/recording.js';
import { info } from '../page/store.js';

const DEFAULT_LABEL = 'from the viewer';

export function RecordingState() {
  const isOpen = useSignal(false);
  useEffect(followRecording, []);
  const now = recording.value;
  if (!now) return null;
  const warnings = now.warnings.length;
  return (
    <>
      <button
        type="button"
        id="recording"
        class="track-tool"
        aria-expanded={isOpen.value}
        title={now.warnings.join('\n') || 'what the daemon says of the trace'}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        {now.state}, {rateText(now.itemsPerSecond)}
        {warnings > 0 && <strong class="end lost"> ⚠ {warnings}</strong>}
      </button>
      {isOpen.value && <Menu onClose={() => (isOpen.value = false)} />}
    </>
  );
}

function Menu({ onClose }: { onClose: () => void }) {
  const now = recording.value;
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    box.current?.querySelector('button')?.focus();
    return () => document.getElementById('recording')?.focus();
  }, []);
  if (!now) return null;
  return (
    <section
      ref={box}
      class="chooser"
      style={{ position: 'fixed', top: 'auto', left: 'auto', right: '12px', bottom: '34px', whiteSpace: 'normal' }}
      aria-label="recording"
      onKeyDown={(event) => {
        // Letters typed here are not commands of the picture.
        event.stopPropagation();
        if (event.key === 'Escape') onClose();
      }}
    >
      <div>
        <strong>{now.name}</strong> {now.state}, {rateText(now.itemsPerSecond)}, {bytesText(now.unacknowledgedBytes)} not on the disk yet
      </div>
      {now.warnings.map((one) => (
        <p key={one} class="end lost">{one}</p>
      ))}
      {mayCommand ? <Commands /> : <p class="hint">This page may only look: uscope view was started with --read-only or --no-token.</p>}
      <p class={outcome.value?.isBad ? 'end lost' : 'hint'} role="status">{outcome.value?.text ?? ''}</p>
      <button type="button" class="tool" onClick={onClose}>close</button>
    </section>
  );
}

function Commands() {
  const label = useSignal(DEFAULT_LABEL);
  const scopes = scopesOf();
  const scope = useSignal(scopes[0] ?? '');
  const button = (name: Action, title: string, hint: string, operand: string | null) => (
    <button type="button" class="tool text" id={`do-${name}`} title={hint} onClick={() => void command(name, operand)}>
      {title}
    </button>
  );
  return (
    <>
      <div class="chooser-tools">
        {button('pause', 'pause', 'nothing is recorded; the simulation continues', null)}
        {button('resume', 'resume', 'record again', null)}
      </div>
      <p class="chooser-tools">
        <input aria-label="label of the mark" value={label.value} maxLength={200} onInput={(event) => (label.value = event.currentTarget.value)} />
        {button('trigger', 'mark, snapshot', 'records a mark; a flight recorder also makes a file of what it keeps', label.value)}
      </p>
      {scopes.length > 0 && (
        <p class="chooser-tools">
          <select aria-label="scope" value={scope.value} onChange={(event) => (scope.value = event.currentTarget.value)}>
            {scopes.map((one) => (
              <option key={one} value={one}>{one}</option>
            ))}
          </select>
          {button('disable', 'disable', 'the scope and those below it are not recorded', scope.value)}
          {button('enable', 'enable', 'they are recorded again', scope.value)}
        </p>
      )}
    </>
  );
}

/** Paths, as commands name them. The scope of the control events is none of the design. */
function scopesOf(): string[] {
  const trace = info.value;
  if (!trace) return [];
  const paths = new Set<string>();
  for (const name of [...trace.storageNames, ...trace.eventNames]) {
    const parts = name.split('/').slice(0, -1);
    parts.forEach((_, depth) => paths.add(parts.slice(0, depth + 1).join('/')));
  }
  paths.delete('uscope');
  return [...paths].sort();
}

const rateText = (rate: number): string =>
  rate >= 1e6 ? `${(rate / 1e6).toFixed(1)} M items/s` : rate >= 1000 ? `${Math.round(rate / 1000)} k items/s` : `${rate} items/s`;
const bytesText = (bytes: number): string => (bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.ceil(bytes / 1000)} kB`);
