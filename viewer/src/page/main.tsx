/** Starts the page. */
import { effect } from '@preact/signals';
import { render } from 'preact';
import { keyListener } from '../input/keys.js';
import type { Command } from '../model/commands.js';
import type { TransactionArgs } from '../model/transactions.js';
import type { QuickQuestions } from '../data/questions/table.js';
import { transactionsShown } from '../panels/tracks/transactions.js';
import { App } from './app.js';
import { layout } from './layout.js';
import { acceptDrops, openFromAddress } from './open.js';
import { linkNow } from './link-state.js';
import { followAddress } from './navigation.js';
import { currentEngine, perform } from './perform.js';
import { inspection } from './questions/inspection.js';
import { beginLinkedSearch, search } from './questions/search.js';
import { beginAtCycles } from './start.js';
import { places } from './places/places.js';
import { tellWhenSlow } from './threads/slowness.js';
import { bindings, info, origin, problems, settings, state } from './store.js';
import { answer } from './questions/window-feed.js';

tellWhenSlow();
openFromAddress();
acceptDrops();
const place = document.getElementById('app')!;
// What it says where no script runs.
place.replaceChildren();
render(<App />, place);

let listener = keyListener(bindings.value, perform);
bindings.subscribe((next) => {
  listener = keyListener(next, perform);
});
addEventListener('keydown', (event) => listener(event));

effect(() => {
  document.documentElement.dataset.theme = settings.value.theme;
  document.title = origin.value ? `${origin.value.name} – µScope` : 'µScope';
});

followAddress();

beginLinkedSearch();
beginAtCycles();

/** For tests, and for users who drive the page from its console. */
Object.assign(window, {
  __uscope: {
    state: () => state.value,
    info: () => info.value,
    problems: () => problems.value,
    settings: () => settings.value,
    orderStages: (stages: readonly string[]) => {
      settings.value = { ...settings.value, stages };
    },
    link: linkNow,
    run: (command: Command) => currentEngine()?.run(command),
    layout: () => layout.value,
    search: () => search.value,
    inspection: () => inspection.value,
    tracks: () => answer.value,
    transactions: () => transactionsShown.value,
    places: () => places.value,
    ask: (kind: keyof QuickQuestions, args: never) => currentEngine()?.ask(kind, args) ?? null,
    askTransactions: (args: TransactionArgs) =>
      currentEngine()?.questionThread('transactions').ask('transactions', args) ?? null,
    describe: (row: number) => currentEngine()?.describe(row) ?? null,
  },
});
