/** Starts the page. */
import { effect } from '@preact/signals';
import { render } from 'preact';
import { keyListener } from '../input/keys.js';
import type { Command } from '../model/commands.js';
import type { QuestionKind } from '../data/questions/table.js';
import { App } from './app.js';
import { layout } from './layout.js';
import { acceptDrops, openFromAddress } from './open.js';
import { currentEngine, linkNow, perform } from './perform.js';
import { bindings, bookmarks, info, origin, problems, settings, state } from './store.js';

const LINK_DELAY_MS = 250;

openFromAddress();
acceptDrops();
render(<App />, document.getElementById('app')!);

let listener = keyListener(bindings.value, perform);
bindings.subscribe((next) => {
  listener = keyListener(next, perform);
});
addEventListener('keydown', (event) => listener(event));

effect(() => {
  document.documentElement.dataset.theme = settings.value.theme;
  document.title = origin.value ? `${origin.value.name} – µScope` : 'µScope';
});

let linkTimer = 0;
effect(() => {
  // Read here, so that their changes count.
  void [state.value, settings.value, bookmarks.value];
  clearTimeout(linkTimer);
  linkTimer = setTimeout(() => {
    if (state.value) history.replaceState(null, '', `#${linkNow()}`);
  }, LINK_DELAY_MS) as unknown as number;
});

/** For tests, and for whoever wants to drive the page from its console. */
Object.assign(window, {
  __uscope: {
    state: () => state.value,
    info: () => info.value,
    problems: () => problems.value,
    settings: () => settings.value,
    link: linkNow,
    run: (command: Command) => currentEngine()?.run(command),
    layout: () => layout.value,
    ask: (kind: QuestionKind, args: never) => currentEngine()?.ask(kind, args) ?? null,
    describe: (row: number) => currentEngine()?.describe(row) ?? null,
  },
});
