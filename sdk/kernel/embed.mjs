// @ts-check
/** Puts the compiled kernel into a TypeScript module, with a digest of the sources it was made from: `node embed.mjs IN.wasm OUT.ts`. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const SOURCES = ['frame_run.c', 'frame_run.h', 'sums.c', 'sums.h'];
const COLUMNS = 96;

/** Digest of what the kernel is compiled from. */
export function sourceDigest() {
  const hash = createHash('sha256');
  for (const name of SOURCES) hash.update(readFileSync(new URL(name, import.meta.url)));
  return hash.digest('hex');
}

/** @param {Buffer} wasm */
function moduleText(wasm) {
  const lines = wasm.toString('base64').match(new RegExp(`.{1,${COLUMNS}}`, 'g')) ?? [];
  return `/** The compiled frame_run.c of sdk/kernel, written by \`make -C sdk/kernel\`. */
export const KERNEL_SOURCE_SHA256 = '${sourceDigest()}';
export const KERNEL_BASE64 = \`
${lines.join('\n')}
\`;
`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [input, output] = process.argv.slice(2);
  writeFileSync(/** @type {string} */ (output), moduleText(readFileSync(/** @type {string} */ (input))));
}
