/** What the selected instruction is to others: asked for once it is known. */
import { effect, signal } from '@preact/signals';
import type { RelationsAnswer } from '../../data/questions/relations.js';
import { state } from '../store.js';
import { currentEngine } from '../threads/current-engine.js';

export const relations = signal<RelationsAnswer | null>(null);

let controller: AbortController | null = null;
let known = '';

effect(() => {
  const details = state.value?.selected ?? null;
  const key = details ? `${details.row} ${details.born} ${details.endCycle}` : '';
  if (key === known) return;
  known = key;
  controller?.abort();
  relations.value = null;
  if (details?.born == null) return;
  controller = new AbortController();
  const { row, born, endCycle: end } = details;
  currentEngine()
    ?.ask('relations', { row, born, end, isRetired: details.end === 'retired' }, controller.signal)
    .then((answer) => {
      if (answer.row === state.value?.selectedRow) relations.value = answer;
    })
    // Superseded, or damage that the picture has reported.
    .catch(() => undefined);
});
