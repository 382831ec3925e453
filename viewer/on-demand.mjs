// @ts-check
/** Parts of the data worker as separate scripts, which it loads when it first needs them: a long constant, or a function and all that it uses. */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * @param {{ module: RegExp, name: string, encode: (value: string) => string, script: string, target: string }} options
 * @returns {import('esbuild').Plugin}
 */
export function loadedOnDemand({ module, name, encode, script, target }) {
  const key = `uscope:${script}`;
  return {
    name: 'loaded on demand',
    setup(build) {
      // In a separate namespace it may be CommonJS, whatever the package says.
      build.onResolve({ filter: module }, ({ path, resolveDir }) => ({
        path: resolve(resolveDir, path),
        namespace: 'on-demand',
      }));
      build.onLoad({ filter: module, namespace: 'on-demand' }, async ({ path }) => {
        const { [name]: value } = await import(pathToFileURL(path).href);
        writeFileSync(
          join(target, script),
          `self[${JSON.stringify(key)}]=${JSON.stringify(encode(value))};\n`,
        );
        // CommonJS: bundled code reads the property each time, so nothing is loaded at the start.
        const contents = `Object.defineProperty(exports, ${JSON.stringify(name)}, {
          enumerable: true,
          get() {
            if (!(${JSON.stringify(key)} in self)) importScripts(new URL(${JSON.stringify(script)}, self.location.href).href);
            return self[${JSON.stringify(key)}];
          },
        });
        Object.defineProperty(exports, '__esModule', { value: true });`;
        return { contents, loader: 'js' };
      });
    },
  };
}

/**
 * A function that a module imports from another one: bundled as a script with the global name given, loaded at the first call.
 * @param {{ module: RegExp, importer: RegExp, name: string, script: string, global: string }} options
 * @returns {import('esbuild').Plugin}
 */
export function calledOnDemand({ module, importer, name, script, global }) {
  return {
    name: 'called on demand',
    setup(build) {
      build.onResolve({ filter: module }, ({ importer: from, path, resolveDir }) =>
        importer.test(from) ? { path: resolve(resolveDir, path), namespace: 'called-on-demand' } : undefined,
      );
      build.onLoad({ filter: module, namespace: 'called-on-demand' }, () => ({
        contents: `export const ${name} = (...given) => {
          if (!(${JSON.stringify(global)} in self)) importScripts(new URL(${JSON.stringify(script)}, self.location.href).href);
          return self[${JSON.stringify(global)}].${name}(...given);
        };`,
        loader: 'js',
      }));
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
      // CommonJS, as above.
      build.onLoad({ filter: module, namespace: 'taken-from-part' }, () => ({
        contents: `${names.map(property).join('\n')}
        Object.defineProperty(exports, '__esModule', { value: true });`,
        loader: 'js',
      }));
    },
  };
}
