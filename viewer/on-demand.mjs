// @ts-check
/** Parts of the data worker as separate scripts, which it loads when it first needs them: a kernel, or classes and functions with all that they use. */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

/**
 * The kernels (sdk/dist/wasm) as the characters of their bytes: base64 hides from gzip what repeats.
 * @param {{ scripts: Record<string, string>, target: string }} options names of kernels that are in a script of their own, and that script
 * @returns {import('esbuild').Plugin}
 */
export function embeddedKernels({ scripts, target }) {
  return {
    name: 'embedded kernels',
    setup(build) {
      build.onLoad({ filter: /\.wasm\.js$/ }, ({ path }) => {
        const name = basename(path, '.wasm.js');
        const text = JSON.stringify(readFileSync(path.replace(/\.js$/, ''), 'latin1'));
        const bytes = `export const bytes = () => Uint8Array.from(text(), (character) => character.charCodeAt(0));\n`;
        const script = scripts[name];
        if (!script) return { contents: `const text = () => ${text};\n${bytes}` };
        const key = JSON.stringify(`uscope:${script}`);
        writeFileSync(join(target, script), `self[${key}]=${text};\n`);
        const contents = `const text = () => {
          if (!(${key} in self)) importScripts(new URL(${JSON.stringify(script)}, self.location.href).href);
          return self[${key}];
        };\n${bytes}`;
        return { contents };
      });
    },
  };
}

/**
 * Classes and functions of a part of the script (`parts.mjs`): the part is loaded when one of them is used first.
 * @param {{ module: RegExp, importer: RegExp, names: readonly string[], part: string }} options
 * @returns {import('esbuild').Plugin}
 */
export function takenFromPart({ module, importer, names, part }) {
  const global = JSON.stringify(`uscope_${part}`);
  const property = (/** @type {string} */ name) => `Object.defineProperty(exports, ${JSON.stringify(name)}, {
          enumerable: true,
          get() {
            if (!(${global} in self)) importScripts(new URL(${JSON.stringify(`${part}.js`)}, self.location.href).href);
            return self[${global}].${name};
          },
        });`;
  return {
    name: 'taken from a part',
    setup(build) {
      build.onResolve({ filter: module }, ({ importer: from, path, resolveDir }) =>
        importer.test(from) ? { path: resolve(resolveDir, path), namespace: 'taken-from-part' } : undefined,
      );
      // CommonJS: bundled code reads a property each time, so nothing is loaded at the start.
      build.onLoad({ filter: module, namespace: 'taken-from-part' }, () => ({
        contents: `${names.map(property).join('\n')}
        Object.defineProperty(exports, '__esModule', { value: true });`,
        loader: 'js',
      }));
    },
  };
}
