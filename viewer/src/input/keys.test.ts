/** One table of bindings: nothing is bound twice, all of it is in the guide, and it can be changed. */

import { describe, expect, it } from 'vitest';
import guide from '../../../docs/how-to/viewer.md?raw';
import { ACTIONS, type Action, shownKey } from './actions.js';
import { keysTable } from './document.js';
import { keyOfEvent, parseBindings } from './keys.js';
import { wheelCommand, wheelSteps } from './pointer.js';

const action = (id: string): Action => ACTIONS.find((one) => one.id === id)!;

describe('bindings', () => {
  it('give each key to one action, and each action an id and something to do', () => {
    const keys = ACTIONS.flatMap((one) => one.keys);
    expect(new Set(keys).size).toBe(keys.length);
    expect(new Set(ACTIONS.map(({ id }) => id)).size).toBe(ACTIONS.length);
    for (const one of ACTIONS) expect(Boolean(one.command) !== Boolean(one.page), one.id).toBe(true);
  });

  it('are those of Konata where Konata has them', () => {
    expect(action('down')).toMatchObject({
      keys: ['ArrowDown'],
      command: { do: 'rows', count: 3, follow: true },
    });
    expect(action('page-up')).toMatchObject({
      keys: ['PageUp'],
      command: { do: 'rows', count: -30, follow: true },
    });
    expect(action('right')).toMatchObject({ keys: ['ArrowRight'], command: { do: 'cycles', count: 6 } });
    expect(action('zoom-in').keys).toEqual(expect.arrayContaining(['+', 'Control+ArrowUp']));
    expect(action('palette').keys).toEqual(expect.arrayContaining(['F1', 'Control+Shift+P']));
  });

  it('are read back, and nothing wrong is taken', () => {
    expect(parseBindings(JSON.stringify({ fit: ['j'] }))).toEqual({ fit: ['j'] });
    expect(parseBindings('{"fit": "j", "nonsense": ["x"], "next": [1]}')).toEqual({});
    for (const text of [null, '', 'null', '[', '3']) expect(parseBindings(text)).toEqual({});
  });

  it('are shown as keyboards name them', () => {
    expect(['Control+Shift+P', 'ArrowUp', 'Shift+?', 'Shift++', 'b 3', 'Shift+PageUp'].map(shownKey)).toEqual(
      ['Ctrl+Shift+P', '↑', '?', '+', 'b 3', 'Shift+PgUp'],
    );
  });

  it('are what an event is called', () => {
    const event = { key: 'P', ctrlKey: true, shiftKey: true, altKey: false, metaKey: false } as KeyboardEvent;
    expect(keyOfEvent(event)).toBe('Control+Shift+p');
    expect(keyOfEvent({ ...event, key: 'Shift' })).toBeNull();
  });

  it('are those of docs/how-to/viewer.md', () => {
    expect(guide).toContain(keysTable());
  });
});

describe('the wheel', () => {
  const wheel = (part: Partial<WheelEvent>): WheelEvent =>
    ({
      deltaMode: 0,
      deltaX: 0,
      deltaY: 0,
      ctrlKey: false,
      shiftKey: false,
      altKey: false,
      metaKey: false,
      ...part,
    }) as WheelEvent;
  const at = { x: 5, y: 6 };

  it('moves 3 rows a notch, whatever pixels a notch has', () => {
    for (const deltaY of [100, 120]) {
      expect(wheelCommand(wheel({ deltaY }), at)).toEqual({ do: 'rows', count: 3, follow: true });
    }
    expect(wheelSteps(wheel({ deltaMode: 1, deltaY: 3 })).y).toBe(1);
  });

  it('moves by parts of it on a touchpad', () => {
    expect(wheelCommand(wheel({ deltaY: -10 }), at)).toMatchObject({ do: 'rows', follow: true });
    expect(wheelSteps(wheel({ deltaY: -10 })).y).toBeCloseTo(-0.1);
  });

  it('does not follow with Shift, even where the browser turns it sideways', () => {
    expect(wheelCommand(wheel({ deltaX: 100, shiftKey: true }), at)).toEqual({
      do: 'rows',
      count: 3,
      follow: false,
    });
  });

  it('zooms with Ctrl, about the pointer, in and out alike', () => {
    const zoomIn = wheelCommand(wheel({ deltaY: -100, ctrlKey: true }), at);
    const zoomOut = wheelCommand(wheel({ deltaY: 100, ctrlKey: true }), at);
    expect(zoomIn).toMatchObject({ do: 'zoom', at, axis: 'both' });
    const factors = [zoomIn, zoomOut].map((command) => (command.do === 'zoom' ? command.factor : 0));
    expect(factors[0]).toBeGreaterThan(1);
    expect(factors[0]! * factors[1]!).toBeCloseTo(1, 12);
  });
});
