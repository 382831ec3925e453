import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Folders of what is made: `share` is there while the package is packed. */
const SKIPPED = new Set(['node_modules', 'dist', 'build', 'share', 'out', 'obj_dir', '.git', '.venv']);
/** Every language there is, and what builds it. */
const SOURCES = /\.(ts|mjs|js|c|h|cpp|hpp|sv|svh|v|py|mk|yaml|sh|html)$|(^|\/)Makefile$/;

function filesIn(directory: string, wanted: RegExp): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return filesIn(path, wanted);
    return wanted.test(path) ? [path] : [];
  });
}

/** Targets of inline links that stay within the repository: path (none: the same page) and fragment. */
function localLinks(text: string): { path: string; fragment: string }[] {
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target ?? '');
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => ({ path: target.replace(/#.*/, ''), fragment: target.replace(/^[^#]*#?/, '') }));
}

/**
 * Places in documents that comments name: the path from the root of the repository, then one anchor or several, with commas between. Comments in
 * sdk/kernel name the references without their folder: the digest of a compiled kernel covers its comments.
 */
function citations(file: string, text: string): { path: string; fragment: string }[] {
  const found = text.matchAll(/\b(docs\/(?:[\w-]+\/)*[\w-]+\.md)((?:#[\w-]+(?:, | and )?)+)/g);
  const inFolder = (path: string) =>
    file.startsWith('sdk/kernel/') ? path.replace(/^docs\/(?=[\w-]+\.md)/, 'docs/reference/') : path;
  return [...found].flatMap(([, path, fragments]) =>
    fragments
      .split(/, | and |(?<=\w)(?=#)/)
      .filter(Boolean)
      .map((fragment) => ({ path: inFolder(path), fragment: fragment.slice(1) })),
  );
}

const known = new Map<string, Set<string>>();

/** The anchors of a page: its headings, in the form that sites for repositories give them. */
function anchorsOf(path: string): Set<string> {
  const cached = known.get(path);
  if (cached) return cached;
  const text = readFileSync(path, 'utf8').replace(/^```[\s\S]*?^```/gm, '');
  const anchors = new Set<string>();
  for (const [, heading] of text.matchAll(/^#+ +(.+?) *$/gm)) {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = plain.replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '').replaceAll(' ', '-');
    let unique = slug;
    for (let n = 1; anchors.has(unique); n++) unique = `${slug}-${n}`;
    anchors.add(unique);
  }
  for (const [, name] of text.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(name);
  known.set(path, anchors);
  return anchors;
}

const exists = (path: string, fragment: string): boolean =>
  existsSync(path) && (fragment === '' || !path.endsWith('.md') || anchorsOf(path).has(fragment));

const pages = filesIn(root, /\.md$/);
const sources = filesIn(root, SOURCES);
const named = (files: readonly string[]): [string, string][] =>
  files.map((file) => [relative(root, file), file]);

describe('links between documents', () => {
  it('finds the documents', () => {
    expect(pages.map((file) => relative(root, file))).toContain('README.md');
  });

  it.each(named(pages))('%s leads nowhere wrong', (_name, file) => {
    const links = localLinks(readFileSync(file, 'utf8'));
    const wrong = links.filter(
      ({ path, fragment }) => !exists(path ? join(dirname(file), path) : file, fragment),
    );
    expect(wrong).toEqual([]);
  });
});

describe('places in documents that comments name', () => {
  const texts = new Map(
    [...sources, ...pages].map((file) => [relative(root, file), readFileSync(file, 'utf8')]),
  );
  const cited = [...texts].flatMap(([file, text]) =>
    citations(file, text).map((place) => ({ file, ...place })),
  );

  it('are found in every language', () => {
    for (const language of ['.ts', '.c', '.h', '.py', '.svh'])
      expect(cited.filter(({ file }) => file.endsWith(language))).not.toEqual([]);
  });

  it('exist', () => {
    const wrong = cited.filter(({ path, fragment }) => !exists(join(root, path), fragment));
    expect(wrong).toEqual([]);
  });

  it('are named by anchor, not by the section numbers of a text that is not here', () => {
    const bare = [...texts].filter(
      ([file, text]) => file !== 'test/docs/links.test.ts' && /(?<!RFC \d+ )§/.test(text),
    );
    expect(bare.map(([file]) => file)).toEqual([]);
  });
});

it('tests that documents name exist', () => {
  const wrong = named(pages).flatMap(([name, file]) =>
    [...readFileSync(file, 'utf8').matchAll(/`([\w.-]+\/[\w./-]+\.test\.tsx?)`/g)]
      .map(([, path]) => path!)
      .filter(
        (path) => ![root, join(root, 'sdk/src'), dirname(file)].some((from) => existsSync(join(from, path))),
      )
      .map((path) => `${name}: ${path}`),
  );
  expect(wrong).toEqual([]);
});
