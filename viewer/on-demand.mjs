// @ts-check
/** A long constant of a module as a script of its own, which a worker loads when it first reads the constant. */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * @param {{ module: RegExp, name: string, script: string, target: string }} options
 * @returns {import('esbuild').Plugin}
 */
export function loadedOnDemand({ module, name, script, target }) {
  const key = `uscope:${script}`;
  return {
    name: 'loaded on demand',
    setup(build) {
      // In a namespace of its own it may be CommonJS, whatever the package says.
      build.onResolve({ filter: module }, ({ path, resolveDir }) => ({
        path: resolve(resolveDir, path),
        namespace: 'on-demand',
      }));
      build.onLoad({ filter: module, namespace: 'on-demand' }, async ({ path }) => {
        const { [name]: value } = await import(pathToFileURL(path).href);
        writeFileSync(join(target, script), `self[${JSON.stringify(key)}]=${JSON.stringify(value)};\n`);
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
