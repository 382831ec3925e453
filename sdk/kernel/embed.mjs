// @ts-check
/**
 * Puts a compiled kernel into a TypeScript module, with a digest of the sources it was made from:
 *
 *     node embed.mjs IN.wasm OUT.ts SOURCE...
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const COLUMNS = 96;

/**
 * Digest of what a kernel is compiled from.
 * @param {readonly string[]} sources names in this directory
 */
export function sourceDigest(sources) {
  const hash = createHash('sha256');
  for (const name of [...sources].sort()) hash.update(readFileSync(new URL(name, import.meta.url)));
  return hash.digest('hex');
}

/**
 * @param {Buffer} wasm
 * @param {readonly string[]} sources
 */
function moduleText(wasm, sources) {
  const lines = wasm.toString('base64').match(new RegExp(`.{1,${COLUMNS}}`, 'g')) ?? [];
  const names = sources.map((name) => `'${name}'`).join(', ');
  return `/** Compiled from sdk/kernel by \`make -C sdk/kernel\`. */
export const SOURCES = [${names}];
export const SOURCES_SHA256 = '${sourceDigest(sources)}';
export const WASM_BASE64 = \`
${lines.join('\n')}
\`;
`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [input = '', output = '', ...sources] = process.argv.slice(2);
  writeFileSync(output, moduleText(readFileSync(input), sources));
}
