/** The keys, and how to change them. */
import { useEffect, useState } from 'preact/hooks';
import { ACTIONS, type Action, GROUPS, POINTER_ACTIONS, shownKeys } from '../input/actions.js';
import { keyOfEvent, keysOf, rebind } from '../input/keys.js';
import { bindings, changeBindings, panel } from '../page/store.js';
import { Dialog } from './dialog.js';

export function Help() {
  const [waiting, setWaiting] = useState<Action | null>(null);
  useEffect(() => {
    if (!waiting) return;
    const take = (event: KeyboardEvent): void => {
      event.preventDefault();
      event.stopImmediatePropagation();
      const key = keyOfEvent(event);
      if (key === null) return;
      if (key !== 'Escape') changeBindings(rebind(waiting, key, bindings.value));
      setWaiting(null);
    };
    addEventListener('keydown', take, { capture: true });
    return () => removeEventListener('keydown', take, { capture: true });
  }, [waiting]);
  const row = (action: Action) => {
    const keys = shownKeys(keysOf(action, bindings.value));
    return (
      <tr key={action.id}>
        <td>
          <button type="button" class="keys" title="change" onClick={() => setWaiting(action)}>
            {waiting === action ? <em>press a key…</em> : keys.map((key) => <kbd key={key}>{key}</kbd>)}
            {waiting !== action && keys.length === 0 && <em>none</em>}
          </button>
        </td>
        <td>{action.title}</td>
      </tr>
    );
  };
  return (
    <Dialog title="Keys" wide onClose={() => (panel.value = 'none')}>
      <p class="dim">
        Click on a key to change it.{' '}
        {Object.keys(bindings.value).length > 0 && (
          <button type="button" class="link" onClick={() => changeBindings({})}>
            Restore all keys
          </button>
        )}
      </p>
      <div class="columns">
        {GROUPS.filter((group) => group !== 'Bookmarks').map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <table>
              <tbody>{ACTIONS.filter((action) => action.group === group).map(row)}</tbody>
            </table>
          </section>
        ))}
        <section>
          <h3>Bookmarks</h3>
          <table>
            <tbody>
              <tr>
                <td>
                  <kbd>0</kbd> … <kbd>9</kbd>
                </td>
                <td>go to a bookmark</td>
              </tr>
              <tr>
                <td>
                  <kbd>b 0</kbd> … <kbd>b 9</kbd> <kbd>Ctrl+0</kbd> … <kbd>Ctrl+9</kbd>
                </td>
                <td>set one</td>
              </tr>
            </tbody>
          </table>
        </section>
        <section>
          <h3>Mouse</h3>
          <table>
            <tbody>
              {POINTER_ACTIONS.map(({ input, title }) => (
                <tr key={input}>
                  <td>{input}</td>
                  <td>{title}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </div>
    </Dialog>
  );
}
