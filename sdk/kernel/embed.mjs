// @ts-check
/**
 * Writes down in TypeScript what was compiled here, with a digest of everything it was compiled from:
 *
 *     node embed.mjs wasm IN.wasm OUT.ts COMPILER SOURCE...     a WebAssembly module, and which compiler made it
 *     node embed.mjs sources OUT.ts SOURCE...                   of the addon, which is not checked in, the digest alone
 *     node embed.mjs digest SOURCE...                           prints the digest
 *
 * The makefiles take the sources from the compiler (-MM), so that no file is forgotten.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const COLUMNS = 96;
/** What biome leaves in one line. */
const LINE_COLUMNS = 110;

/**
 * Digest of what a kernel is compiled from.
 * @param {readonly string[]} sources names in this directory
 */
export function sourceDigest(sources) {
  const hash = createHash('sha256');
  for (const name of [...sources].sort()) hash.update(readFileSync(new URL(name, import.meta.url)));
  return hash.digest('hex');
}

/** @param {readonly string[]} sources */
function sourcesText(sources) {
  const names = [...sources].sort().map((name) => `'${name}'`);
  const line = `export const SOURCES = [${names.join(', ')}];`;
  const list =
    line.length <= LINE_COLUMNS
      ? line
      : `export const SOURCES = [\n${names.map((name) => `  ${name},\n`).join('')}];`;
  return `${list}\nexport const SOURCES_SHA256 = '${sourceDigest(sources)}';\n`;
}

/**
 * @param {Buffer} wasm
 * @param {string} compiler
 * @param {readonly string[]} sources
 */
function wasmText(wasm, compiler, sources) {
  const lines = wasm.toString('base64').match(new RegExp(`.{1,${COLUMNS}}`, 'g')) ?? [];
  return `/** Compiled from sdk/kernel by \`make -C sdk/kernel\`; scripts/check-wasm.mjs compiles it again and compares. */
export const COMPILER = '${compiler}';
${sourcesText(sources)}export const WASM_BASE64 = \`
${lines.join('\n')}
\`;
`;
}

/** @param {readonly string[]} sources */
const addonText = (sources) =>
  `/** What the addon is built from; written by \`make -C sdk/kernel/native sources\`. */\n${sourcesText(sources)}`;

/** @param {string[]} args */
function main([what, ...rest]) {
  if (what === 'wasm') {
    const [input = '', output = '', compiler = '', ...sources] = rest;
    writeFileSync(output, wasmText(readFileSync(input), compiler, sources));
  } else if (what === 'sources') {
    const [output = '', ...sources] = rest;
    writeFileSync(output, addonText(sources));
  } else {
    console.log(sourceDigest(rest));
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main(process.argv.slice(2));
