// @ts-check
/**
 * Copies the blocks of README.md into the readmes of the packages, which registries show:
 *
 *     node scripts/readmes.mjs [--check]     --check: writes nothing; exit status 1 when a readme is not what would be written
 *
 * A block stands between `<!-- block: NAME -->` and `<!-- end -->`. Links lead to the same files from the folder of each readme.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './step.mjs';

const SOURCE = 'README.md';
const READMES = ['sdk/README.md', 'python-command/README.md', 'cocotb-adapter/README.md'];
const BLOCK = /<!-- block: ([\w-]+) -->\n(.*?)<!-- end -->/gs;

/**
 * @param {string} source text of the readme that has the blocks
 * @param {string} readme text of one that repeats some of them
 * @param {string} path of the latter
 */
export function withBlocks(source, readme, path) {
  const blocks = new Map([...source.matchAll(BLOCK)].map(([, name, text]) => [name, text]));
  return readme.replace(BLOCK, (_, name) => {
    const text = blocks.get(name);
    if (text === undefined) throw new Error(`${path}: ${SOURCE} has no block "${name}"`);
    return `<!-- block: ${name} -->\n${linksFrom(text, dirname(path))}<!-- end -->`;
  });
}

/** @param {string} text @param {string} folder */
const linksFrom = (text, folder) =>
  text.replace(/\]\((?![a-z]+:|#)([^)]+)\)/g, (_, target) => `](${relative(folder, target)})`);

/** @returns {Map<string, string>} path -> what has to be in it */
export function readmes() {
  const read = (/** @type {string} */ path) => readFileSync(join(ROOT, path), 'utf8');
  return new Map(READMES.map((path) => [path, withBlocks(read(SOURCE), read(path), path)]));
}

function main() {
  const isCheck = process.argv.includes('--check');
  for (const [path, text] of readmes()) {
    if (readFileSync(join(ROOT, path), 'utf8') === text) continue;
    if (isCheck) {
      console.error(`${path} does not repeat ${SOURCE}: run node scripts/readmes.mjs`);
      process.exitCode = 1;
    } else writeFileSync(join(ROOT, path), text);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
