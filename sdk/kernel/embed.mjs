// @ts-check
/**
 * Writes down what was compiled here, with a digest of everything it was compiled from:
 *
 *     node embed.mjs wasm IN.wasm OUT.wasm COMPILER SOURCE...   a module, with one section more: see `BuiltFrom`
 *     node embed.mjs sources OUT.ts SOURCE...                   of the addon, which is not checked in, the digest alone
 *     node embed.mjs digest SOURCE...                           prints the digest
 *
 * The makefiles take the sources from the compiler (-MM), so that no file is forgotten.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** Name of the section in which a module says what it was compiled from. */
const SECTION = 'built_from';

/** @typedef {{ compiler: string, sources: string[], sha256: string }} BuiltFrom */

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
 * @param {Uint8Array<ArrayBuffer>} wasm
 * @returns {BuiltFrom | null} null: it does not say
 */
export function builtFrom(wasm) {
  const [section] = WebAssembly.Module.customSections(new WebAssembly.Module(wasm), SECTION);
  return section ? JSON.parse(Buffer.from(section).toString()) : null;
}

/**
 * The module with a custom section at its end, which engines ignore.
 * @param {Uint8Array} wasm
 * @param {BuiltFrom} from
 */
export function withBuiltFrom(wasm, from) {
  const name = Buffer.from(SECTION);
  const contents = Buffer.concat([leb128(name.length), name, Buffer.from(JSON.stringify(from))]);
  return Buffer.concat([wasm, Uint8Array.of(0), leb128(contents.length), contents]);
}

/** @param {number} value */
function leb128(value) {
  const bytes = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Uint8Array.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
}

/** @param {readonly string[]} sources */
const addonText = (
  sources,
) => `/** Written by \`make -C sdk/kernel/native sources\`: digest of what the addon is built from. */
export const SOURCES_SHA256 = '${sourceDigest(sources)}';
`;

/** @param {string[]} args */
function main([what, ...rest]) {
  if (what === 'wasm') {
    const [input = '', output = '', compiler = '', ...names] = rest;
    const sources = names.sort();
    const from = { compiler, sources, sha256: sourceDigest(sources) };
    writeFileSync(output, withBuiltFrom(readFileSync(input), from));
  } else if (what === 'sources') {
    const [output = '', ...sources] = rest;
    writeFileSync(output, addonText(sources));
  } else {
    console.log(sourceDigest(rest));
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main(process.argv.slice(2));
