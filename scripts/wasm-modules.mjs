// @ts-check
/**
 * The kernels (sdk/src/wasm) as modules with their bytes, since nothing can be read from beside the code everywhere: pages opened from a disk
 * cannot, and bundlers do not see it. The SDK imports `NAME.wasm.js`; the build writes it next to `NAME.wasm`, and where the sources run, it is made
 * when it is loaded.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names of the modules. */
export const MODULE = /\.wasm\.js$/;

/** @param {string} path of the module @returns {string} its text */
export function wasmModule(path) {
  const text = readFileSync(path.replace(/\.js$/, '')).toString('base64');
  // A callback for each byte would be called by the interpreter.
  return `export const bytes = () => {
  const text = atob('${text}');
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
};
`;
}

/** @param {string} from directory of the kernels @param {string} to where they are written, with their modules */
export function writeWasmModules(from, to) {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from).filter((file) => file.endsWith('.wasm'))) {
    cpSync(join(from, name), join(to, name));
    writeFileSync(join(to, `${name}.js`), wasmModule(join(from, `${name}.js`)));
  }
}
