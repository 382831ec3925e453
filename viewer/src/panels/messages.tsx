/** What went wrong, and what to do; and the page before a trace is opened. */
import { problems } from '../page/store.js';
import { AdviceText } from './advice-text.js';

export function Messages({ isFatal }: { isFatal: boolean }) {
  const all = problems.value;
  if (all.length === 0) return null;
  return (
    <div class={isFatal ? 'messages fatal' : 'messages'} role="alert">
      {all.map(({ code, what, advice }) => (
        <div key={what} class="message">
          {!isFatal && (
            <button
              type="button"
              class="close"
              aria-label="close the message"
              onClick={() => {
                problems.value = problems.value.filter((problem) => problem.what !== what);
              }}
            >
              ×
            </button>
          )}
          <strong>{code}</strong>
          <p>{what}</p>
          <p class="advice">
            <AdviceText text={advice} />
          </p>
        </div>
      ))}
    </div>
  );
}

export function Welcome({ onFile, isFatal }: { onFile: (file: File) => void; isFatal: boolean }) {
  // A message is in its place.
  if (isFatal) return <main class="welcome" />;
  return (
    <main class="welcome">
      <h1>µScope</h1>
      <p>
        Drop a <code>.uscope</code> trace on this page, or{' '}
        <label class="file">
          choose a file
          <input
            type="file"
            onChange={(event) => {
              const file = event.currentTarget.files?.[0];
              if (file) onFile(file);
            }}
          />
        </label>
        .
      </p>
      <p class="dim">
        The file stays on this machine. A trace on a web server opens with <code>?trace=URL</code> after the address of this page.
      </p>
    </main>
  );
}
