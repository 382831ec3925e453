// @ts-check
/**
 * Parts of a script of the page, fetched when they are first used. A part takes from its script what the script has anyway, so nothing is
 * sent twice and there is one instance of each class.
 */
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { build } from 'esbuild';

/** @typedef {import('esbuild').BuildOptions & { outdir: string }} Options */
/** @typedef {ReadonlyMap<string, readonly string[]>} Exports absolute path of a module -> names */

const NAMESPACE = 'of-the-script';

/**
 * Bundles a script and its parts. A part is loaded after its script; what it exports is the global object `uscope_PART`.
 * @param {Options} options
 * @param {{ name: string, entry: string, parts: Readonly<Record<string, string>> }} script
 */
export async function buildWithParts(options, { name, entry, parts }) {
  const own = await exportsOf(await modulesOf(options, entry));
  const table = `uscope_of_${name}`;
  /** @type {Set<string>} */
  const keys = new Set();
  for (const [part, from] of Object.entries(parts)) {
    await build({
      ...options,
      entryPoints: { [part]: from },
      globalName: `uscope_${part}`,
      plugins: [takeFrom(table, own), ...(options.plugins ?? [])],
    });
    const text = await readFile(join(options.outdir, `${part}.js`), 'utf8');
    for (const [, key] of text.matchAll(new RegExp(`${table}\\["(\\d+\\.[^"]+)"\\]`, 'g')))
      keys.add(key ?? '');
  }
  const { outdir, ...others } = options;
  await build({
    ...others,
    outfile: join(outdir, `${name}.js`),
    stdin: {
      contents: withTable(table, [...keys], [...own.keys()], entry),
      resolveDir: resolve(entry, '..'),
    },
  });
}

/**
 * The script, with a table of what its parts take from it.
 * @param {string} table
 * @param {readonly string[]} keys
 * @param {readonly string[]} paths
 * @param {string} entry
 */
function withTable(table, keys, paths, entry) {
  const imports = keys.map((key, at) => {
    const [module, name] = key.split('.');
    return `import { ${name} as taken${at} } from ${JSON.stringify(paths[Number(module)])};`;
  });
  const entries = keys.map((key, at) => `${JSON.stringify(key)}: taken${at}`);
  return [...imports, `import ${JSON.stringify(entry)};`, `self.${table} = { ${entries.join(', ')} };`].join(
    '\n',
  );
}

/**
 * Modules with code in the bundle. Those that only pass on what others export have none.
 * @param {Options} options
 * @param {string} entry
 */
async function modulesOf(options, entry) {
  const { metafile } = await build({ ...options, entryPoints: [entry], metafile: true, write: false });
  const inputs = Object.entries(Object.values(metafile.outputs)[0]?.inputs ?? {});
  // A name with a colon is none of a file: plugins have made it.
  return inputs.flatMap(([path, { bytesInOutput }]) =>
    bytesInOutput > 0 && !path.includes(':') ? [resolve(path)] : [],
  );
}

/**
 * @param {readonly string[]} paths
 * @returns {Promise<Exports>}
 */
async function exportsOf(paths) {
  const options = /** @type {const} */ ({
    bundle: false,
    write: false,
    metafile: true,
    format: 'esm',
    outdir: 'out',
  });
  const { metafile } = await build({ ...options, entryPoints: [...paths] });
  return new Map(
    Object.values(metafile.outputs).map(({ entryPoint, exports }) => [resolve(entryPoint ?? ''), exports]),
  );
}

/**
 * Modules of the script are the table's entries, `module.name`. Only those used are in the output.
 * @param {string} table
 * @param {Exports} own
 * @returns {import('esbuild').Plugin}
 */
function takeFrom(table, own) {
  const paths = [...own.keys()];
  return {
    name: 'modules of the script',
    setup(one) {
      one.onResolve({ filter: /.*/ }, async ({ path, pluginData, kind, ...where }) => {
        if (pluginData === table || kind === 'entry-point') return undefined;
        const found = await one.resolve(path, { ...where, kind, pluginData: table });
        if (found.namespace !== 'file' || !own.has(found.path)) return found;
        return { path: found.path, namespace: NAMESPACE, sideEffects: false };
      });
      one.onLoad({ filter: /.*/, namespace: NAMESPACE }, async ({ path }) => {
        const constants = (own.get(path) ?? []).map((name) => {
          const key = JSON.stringify(`${paths.indexOf(path)}.${name}`);
          return `export const ${name} = /* @__PURE__ */ (() => self.${table}[${key}])();`;
        });
        // What it passes on of others is not among its own names.
        const stars = (await readFile(path, 'utf8')).match(/^export \* from .*$/gm) ?? [];
        return { contents: [...constants, ...stars].join('\n'), loader: 'js', resolveDir: dirname(path) };
      });
    },
  };
}
