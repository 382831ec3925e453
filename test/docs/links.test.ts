import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const SKIPPED = new Set(['node_modules', 'dist', 'build', 'out', 'obj_dir', '.git']);

function markdownFiles(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return markdownFiles(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

/** Targets of inline links that stay within the repository, without their fragments. */
function localLinks(text: string): string[] {
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target ?? '');
  return targets.filter((target) => !/^[a-z]+:|^#/.test(target)).map((target) => target.replace(/#.*/, ''));
}

describe('links between documents', () => {
  const files = markdownFiles(root);

  it('finds the documents', () => {
    expect(files.map((file) => relative(root, file))).toContain('README.md');
  });

  it.each(files.map((file) => [relative(root, file), file]))('%s leads nowhere wrong', (_name, file) => {
    const links = localLinks(readFileSync(file, 'utf8'));
    expect(links.filter((link) => !existsSync(join(dirname(file), link)))).toEqual([]);
  });
});
