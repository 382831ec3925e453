/** The table of keys in docs/how-to/viewer.md, which a test compares. `npm run docs:viewer` writes it. */
import { ACTIONS, GROUPS, POINTER_ACTIONS, shownKeys } from './actions.js';

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** Markdown. */
export function keysTable(): string {
  const lines = GROUPS.filter((group) => group !== 'Bookmarks').flatMap((group) => [
    `| **${group}** | |`,
    ...ACTIONS.filter((action) => action.group === group).map(
      ({ keys, title }) =>
        `| ${shownKeys(keys)
          .map((key) => `\`${cell(key)}\``)
          .join(' ')} | ${title} |`,
    ),
  ]);
  return [
    '| key | |',
    '|---|---|',
    ...lines,
    '| **Bookmarks** | |',
    '| `0` … `9` | go to a bookmark |',
    '| `b 0` … `b 9`, `Ctrl+0` … `Ctrl+9` | set one (browsers keep some of the second for themselves) |',
    '| **Mouse** | |',
    ...POINTER_ACTIONS.map(({ input, title }) => `| ${input} | ${title} |`),
  ].join('\n');
}
