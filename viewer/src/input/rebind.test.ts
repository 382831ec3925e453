/** Keys that the user changed. */
import { describe, expect, it } from 'vitest';
import { ACTIONS, type Action } from './actions.js';
import { keysOf } from './keys.js';
import {
  addKey,
  allConflicts,
  conflictsOf,
  exportBindings,
  importBindings,
  removeKey,
  resetKeys,
} from './rebind.js';

const action = (id: string): Action => ACTIONS.find((one) => one.id === id)!;

describe('changed keys', () => {
  it('collide with nothing as they are at first', () => {
    expect(allConflicts({}).map(({ key, otherKey }) => [key, otherKey])).toEqual([]);
  });

  it('are added and removed one by one, and are as at first when nothing is left of the change', () => {
    const more = addKey(action('fit'), 'F8', {});
    expect(keysOf(action('fit'), more)).toEqual(['f', 'F8']);
    expect(addKey(action('fit'), 'F8', more)).toBe(more);
    expect(removeKey(action('fit'), 'F8', more)).toEqual({});
    const none = removeKey(action('fit'), 'f', {});
    expect(keysOf(action('fit'), none)).toEqual([]);
    expect(resetKeys(action('fit'), none)).toEqual({});
  });

  it('show what they collide with: the same key, and the beginning of several', () => {
    const same = addKey(action('fit'), 'j', {});
    expect(allConflicts(same)).toMatchObject([{ key: 'j', action: { id: 'fit' }, other: { id: 'next' } }]);
    const beginning = conflictsOf(action('fit'), 'b', {});
    expect(beginning.map(({ otherKey }) => otherKey)).toContain('b 3');
    expect(conflictsOf(action('fit'), 'b 3 4', {}).map(({ other }) => other.id)).toEqual(['set-bookmark-3']);
    expect(conflictsOf(action('fit'), 'F9', {})).toEqual([]);
  });

  it('go to a file and come back', () => {
    const changed = addKey(action('fit'), 'F8', removeKey(action('next'), 'j', {}));
    expect(importBindings(exportBindings(changed))).toEqual(changed);
    for (const text of ['', '{', 'null', '[]', '{"keys":{}}', '{"kind":"other"}']) {
      expect(importBindings(text)).toBeNull();
    }
    const hostile =
      '{"kind":"uscope viewer keys","keys":{"fit":[1],"__proto__":["x"],"next":["F7"],"none":["a"]}}';
    expect(importBindings(hostile)).toEqual({ next: ['F7'] });
  });
});
