/** README.md and the index of documents: short, with commands that exist, repeated in the readmes of the packages and nowhere else. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readmes, withBlocks } from '../../scripts/readmes.mjs';
import { loadAllVerbs } from '../../sdk/src/cli/main.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const text = read('README.md');
const { commands: verbs } = await loadAllVerbs();
/** Lines of commands: indented blocks, without what a comment or a column of explanations says. */
const commands = [...text.matchAll(/^ {4}(?:\$ )?((?:npm|npx|uscope|pip|verilator) .*)$/gm)].map(([, line]) =>
  line.replace(/\s+#.*| {3,}.*/, ''),
);

it('is a page to read in a minute', () => {
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(100);
  expect(read('CHANGELOG.md').trimEnd().split('\n').length).toBeLessThanOrEqual(60);
});

it('there are at most 75 pages of documents', () => {
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.md') && !name.includes('api/typescript'),
  );
  expect(pages.length).toBeLessThanOrEqual(75);
});

it('a clone has two commands, which package.json has', () => {
  const { scripts } = JSON.parse(read('package.json'));
  const section = /## From a clone\n(.*?)\n## /s.exec(text)?.[1] ?? '';
  const two = [...section.matchAll(/^ {4}npm (?:run )?(\w+)/gm)].map(([, name]) => name);
  expect(two).toEqual(['demo', 'test']);
  expect(two.filter((name) => scripts[name ?? ''] === undefined)).toEqual([]);
});

it('shows verbs and options that the command has', () => {
  const parts = commands.flatMap((line) => [
    ...[...line.matchAll(/\$\((.*?)\)/g)].map(([, inner]) => inner ?? ''),
    line.replace(/\$\(.*?\)/g, ''),
  ]);
  const shown = parts.flatMap((part) => /^(?:npx )?uscope ([a-z].*)/.exec(part)?.[1] ?? []);
  const calls = shown.map((rest) => (rest.split(/ -- /)[0] ?? '').split(' '));
  expect(calls.length).toBeGreaterThan(8);
  for (const [name, ...words] of calls) {
    const verb = verbs.find((one) => one.name() === name);
    expect(verb, name).toBeDefined();
    const options = verb?.options.flatMap(({ short, long }) => [short, long]) ?? [];
    expect(words.filter((word) => /^--?[a-z]/.test(word) && !options.includes(word))).toEqual([]);
  }
});

it('states figures that the page of performance states', () => {
  const cost = /## What it costs\n(.*?)\n## /s.exec(text)?.[1] ?? '';
  const figures = [...cost.matchAll(/\*\*([\d.]+)/g)].map(([, figure]) => figure ?? '');
  const page = read('docs/explanation/performance.md');
  expect(figures.length).toBeGreaterThan(1);
  expect(figures.filter((figure) => !page.includes(figure))).toEqual([]);
});

it('the readmes of the packages repeat it (else: node scripts/readmes.mjs)', () => {
  for (const [path, wanted] of readmes()) expect(read(path), path).toBe(wanted);
});

it('a block keeps its links from any folder, and one that is not there is refused', () => {
  const source = '<!-- block: a -->\n[x](docs/x.md) [y](https://y) [z](#z)\n<!-- end -->\n';
  expect(withBlocks(source, 'b\n<!-- block: a -->\nold\n<!-- end -->\n', 'sdk/README.md')).toBe(
    'b\n<!-- block: a -->\n[x](../docs/x.md) [y](https://y) [z](#z)\n<!-- end -->\n',
  );
  expect(() => withBlocks('', source, 'sdk/README.md')).toThrow('no block "a"');
});
