/** Places that a user types: `c 20000` a cycle, `j 1200` an instruction, `jr 900` a retired one, `f lw.*sp` what matches, `stall 50` and `gap 50` the next. */

import { goToNearest, limits } from './questions/nearest.js';
import { beginSearch } from './questions/search.js';
import { info, panel, tell } from './store.js';
import { currentEngine } from './threads/current-engine.js';

type Target =
  | { readonly to: 'cycle' | 'row' | 'retired'; readonly number: number }
  | { readonly to: 'stall' | 'gap'; readonly longer: number; readonly direction: 1 | -1 }
  | { readonly to: 'find'; readonly pattern: string };

const KINDS: Readonly<Record<string, 'cycle' | 'row' | 'retired'>> = {
  '': 'cycle',
  c: 'cycle',
  cycle: 'cycle',
  j: 'row',
  row: 'row',
  jr: 'retired',
  retired: 'retired',
};

/** null: the text names no place. */
export function targetOf(text: string): Target | null {
  const pattern = /^\s*f(?:ind)?\s+(\S.*)$/i.exec(text)?.[1];
  if (pattern !== undefined) return { to: 'find', pattern: pattern.trimEnd() };
  const [, what, back, length] = /^\s*(stall|gap)\s+(-?)(\d[\d,_]{0,15})\s*$/i.exec(text) ?? [];
  if (what !== undefined) {
    const to = what.toLowerCase() as 'stall' | 'gap';
    return { to, longer: numberOf(length!), direction: back === '' ? 1 : -1 };
  }
  const [, word = '', digits] = /^\s*([a-z]*)\s*(\d[\d,_]*)\s*$/i.exec(text) ?? [];
  const to = KINDS[word.toLowerCase()];
  const number = numberOf(digits ?? '');
  return to !== undefined && Number.isSafeInteger(number) ? { to, number } : null;
}

/** As people write it: `20,608`. */
const numberOf = (digits: string): number =>
  digits === '' ? Number.NaN : Number(digits.replace(/[,_]/g, ''));

export function titleOf(target: Target): string {
  if (target.to === 'find') return `find ${target.pattern}`;
  if ('longer' in target) {
    const name = target.to === 'stall' ? 'stall' : 'gap in retirement';
    return `${target.direction > 0 ? 'next' : 'previous'} ${name} longer than ${target.longer.toLocaleString('en')} cycles`;
  }
  const names = { cycle: 'cycle', row: 'instruction', retired: 'retired instruction' };
  return `go to ${names[target.to]} ${target.number.toLocaleString('en')}`;
}

export async function goTo(target: Target): Promise<void> {
  const engine = currentEngine();
  if (!engine) return;
  switch (target.to) {
    case 'find':
      panel.value = 'search';
      beginSearch(target.pattern);
      return;
    case 'stall':
    case 'gap':
      limits.value = { ...limits.value, [target.to]: target.longer };
      void goToNearest(target.to, target.direction);
      return;
    case 'cycle':
      engine.run({ do: 'goCycle', cycle: target.number });
      return;
    case 'row':
      engine.run({ do: 'goRow', row: target.number });
      return;
    case 'retired': {
      const row = await engine.ask('rowOfRetired', { number: target.number }).catch(() => null);
      if (row !== null) engine.run({ do: 'goRow', row });
      else
        tell(
          `${info.value?.name ?? 'the trace'} has no retired instruction ${target.number.toLocaleString('en')}`,
        );
    }
  }
}
