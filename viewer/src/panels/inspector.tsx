/** The selected instruction. */
import { currentEngine } from '../page/perform.js';
import { state } from '../page/store.js';
import { Card } from './card.js';

export function Inspector() {
  const details = state.value?.selected;
  if (!details) return <p class="hint">Click on an instruction, or select one with j and k.</p>;
  return <Card details={details} onRow={(row) => currentEngine()?.run({ do: 'goRow', row })} />;
}
