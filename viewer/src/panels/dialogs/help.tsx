/** The keys, and how to change them. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useState } from 'preact/hooks';
import { ACTIONS, type Action, GROUPS, POINTER_ACTIONS, shownKey } from '../../input/actions.js';
import { keyOfEvent, keysOf } from '../../input/keys.js';
import {
  addKey,
  allConflicts,
  conflictsOf,
  exportBindings,
  importBindings,
  removeKey,
  resetKeys,
} from '../../input/rebind.js';
import { save } from '../../page/export.js';
import { bindings, changeBindings, panel, tell } from '../../page/store.js';
import { Dialog } from './dialog.js';

export function Help() {
  const [waiting, setWaiting] = useState<Action | null>(null);
  const wanted = useSignal('');
  // Before anything is painted: the next key is the one.
  useLayoutEffect(() => {
    if (!waiting) return;
    const take = (event: KeyboardEvent): void => {
      event.preventDefault();
      event.stopImmediatePropagation();
      const key = keyOfEvent(event);
      if (key === null) return;
      if (key !== 'Escape') changeBindings(addKey(waiting, key, bindings.value));
      setWaiting(null);
    };
    addEventListener('keydown', take, { capture: true });
    return () => removeEventListener('keydown', take, { capture: true });
  }, [waiting]);
  const words = wanted.value.toLowerCase().split(/\s+/);
  const isWanted = (action: Action): boolean => {
    const name = `${action.title} ${action.group} ${keysOf(action, bindings.value).map(shownKey).join(' ')}`.toLowerCase();
    return words.every((word) => name.includes(word));
  };
  const groups = GROUPS.map((group) => [group, ACTIONS.filter((one) => one.group === group && isWanted(one))] as const);
  return (
    <Dialog title="Keys" wide onClose={() => (panel.value = 'none')}>
      <header class="keys-head">
        <h2>Keys</h2>
        <input
          type="search"
          aria-label="find a key or an action"
          placeholder="find"
          value={wanted.value}
          onInput={(event) => {
            wanted.value = event.currentTarget.value;
          }}
        />
        <span class="fill" />
        <Files />
        <button type="button" class="tool" onClick={() => (panel.value = 'none')}>
          close
        </button>
      </header>
      <Conflicts />
      <div class="columns">
        {groups.map(
          ([group, actions]) =>
            actions.length > 0 && (
              <section key={group}>
                <h3>{group}</h3>
                <table>
                  <tbody>
                    {actions.map((action) => (
                      <Row key={action.id} action={action} isWaiting={waiting === action} onAdd={() => setWaiting(action)} />
                    ))}
                  </tbody>
                </table>
              </section>
            ),
        )}
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

function Row({ action, isWaiting, onAdd }: { action: Action; isWaiting: boolean; onAdd: () => void }) {
  // Layouts of keyboards that need different keys for one character: it is shown once.
  const all = keysOf(action, bindings.value);
  const keys = all.filter((key, index) => all.findIndex((one) => shownKey(one) === shownKey(key)) === index);
  const remove = (shown: string): void => {
    const same = all.filter((key) => shownKey(key) === shown);
    changeBindings(same.reduce((left, key) => removeKey(action, key, left), bindings.value));
  };
  const isOwn = bindings.value[action.id] !== undefined;
  return (
    <tr>
      <td class="key-cell">
        {keys.map((key) => {
          const other = conflictsOf(action, key, bindings.value)[0]?.other;
          return (
            <button
              key={key}
              type="button"
              class={other ? 'key collides' : 'key'}
              title={other ? `also: ${other.title}. Click removes the key` : 'click removes the key'}
              aria-label={`remove ${shownKey(key)} from: ${action.title}`}
              onClick={() => remove(shownKey(key))}
            >
              <kbd>{shownKey(key)}</kbd>
            </button>
          );
        })}
        <button type="button" class="key add" title="add a key" aria-label={`add a key to: ${action.title}`} onClick={onAdd}>
          {isWaiting ? <em>press a key, Esc for none</em> : '+'}
        </button>
      </td>
      <td>
        {action.title}
        {isOwn && (
          <>
            {' '}
            <button type="button" class="link" onClick={() => changeBindings(resetKeys(action, bindings.value))}>
              reset
            </button>
          </>
        )}
      </td>
    </tr>
  );
}

function Conflicts() {
  const all = allConflicts(bindings.value);
  if (all.length === 0) return null;
  return (
    <ul class="conflicts" role="alert">
      {all.map(({ key, action, otherKey, other }) => (
        <li key={`${action.id} ${key} ${other.id} ${otherKey}`}>
          <kbd>{shownKey(key)}</kbd> {action.title} – <kbd>{shownKey(otherKey)}</kbd> {other.title}: only one of them works
        </li>
      ))}
    </ul>
  );
}

/** The bindings as a file, to keep or to give to others. */
function Files() {
  return (
    <>
      <button type="button" class="tool" onClick={() => save(new Blob([exportBindings(bindings.value)], { type: 'application/json' }), 'uscope-keys.json')}>
        export
      </button>
      <label class="tool file-tool">
        import
        <input
          type="file"
          accept=".json,application/json"
          aria-label="import keys from a file"
          onChange={async (event) => {
            const file = event.currentTarget.files?.[0];
            const taken = file && file.size < 1_000_000 ? importBindings(await file.text()) : null;
            if (taken) changeBindings(taken);
            else tell('that is not a file of keys: export writes one');
          }}
        />
      </label>
      <button type="button" class="tool" disabled={Object.keys(bindings.value).length === 0} onClick={() => changeBindings({})}>
        reset all
      </button>
    </>
  );
}
