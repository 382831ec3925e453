/** Places that a user types: `c 20000` a cycle, `j 1200` an instruction, `jr 900` a retired one, `f lw.*sp` what matches. */
import { currentEngine } from './current-engine.js';
import { find } from './perform.js';
import { info, tell } from './store.js';

export type Target =
  | { readonly to: 'cycle' | 'row' | 'retired'; readonly number: number }
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
  const [, word = '', digits] = /^\s*([a-z]*)\s*(\d[\d,_]*)\s*$/i.exec(text) ?? [];
  const to = KINDS[word.toLowerCase()];
  const number = Number(digits?.replace(/[,_]/g, ''));
  return to !== undefined && Number.isSafeInteger(number) ? { to, number } : null;
}

export function titleOf(target: Target): string {
  if (target.to === 'find') return `find ${target.pattern}`;
  const names = { cycle: 'cycle', row: 'instruction', retired: 'retired instruction' };
  return `go to ${names[target.to]} ${target.number.toLocaleString('en')}`;
}

export async function goTo(target: Target): Promise<void> {
  const engine = currentEngine();
  if (!engine) return;
  switch (target.to) {
    case 'find':
      find(target.pattern);
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
