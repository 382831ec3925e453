// @ts-check
/**
 * The rules for the clients' sources:
 *
 *   1. dpi/src: a file is in a folder of LAYERS and includes only from its own folder and from those below, by the path from dpi/src;
 *      the public headers of dpi/include may be included everywhere; headers do not include each other in circles;
 *   2. cocotb-adapter: modules do not import each other in circles, not even for types.
 */
import { findCycles } from './cycles.mjs';

/** Bottom to top. Folders of one level know nothing of each other. */
const LAYERS = [
  ['base'],
  ['schema', 'memory'],
  ['trace'],
  ['link'],
  ['record'],
  ['api', 'protocols'],
  ['dpi'],
];
const layerOf = new Map(LAYERS.flatMap((folders, layer) => folders.map((folder) => [folder, layer])));

/** @typedef {import('./check-imports.mjs').Violation} Violation */

/**
 * @param {ReadonlyMap<string, string>} sources path from dpi/src -> text
 * @param {ReadonlySet<string>} publicHeaders names
 * @returns {Violation[]}
 */
export function checkIncludes(sources, publicHeaders) {
  const graph = new Map(
    [...sources].map(([path, text]) => [
      path,
      [...text.matchAll(/^[ \t]*#[ \t]*include[ \t]*"([^"]+)"/gm)].map(([, name]) => name),
    ]),
  );
  const violations = [...graph].flatMap(([file, names]) =>
    names
      .filter((name) => !publicHeaders.has(name))
      .map((name) => ({ file, rule: checkInclude(file, name, sources) })),
  );
  const broken = violations.filter(({ rule }) => rule !== '');
  return [...misplaced(sources), ...broken, ...findCycles(graph)];
}

/**
 * @param {string} file
 * @param {string} name
 * @param {ReadonlyMap<string, string>} sources
 * @returns {string} the broken rule; '': none
 */
function checkInclude(file, name, sources) {
  if (!sources.has(name))
    return `includes "${name}", which is neither a path from dpi/src nor a public header`;
  const [from, to] = [folderOf(file), folderOf(name)];
  const [fromLayer, toLayer] = [layerOf.get(from), layerOf.get(to)];
  if (from === to || fromLayer === undefined || toLayer === undefined || toLayer < fromLayer) return '';
  return toLayer === fromLayer
    ? `includes ${name}: ${from} and ${to} know nothing of each other`
    : `includes ${name}: ${to} is above ${from}`;
}

/**
 * @param {ReadonlyMap<string, string>} sources
 * @returns {Violation[]}
 */
function misplaced(sources) {
  const strays = [...sources.keys()].filter((file) => !layerOf.has(folderOf(file)));
  return strays.map((file) => ({
    file,
    rule: 'is in no folder with a layer (scripts/client-imports.mjs)',
  }));
}

/** @param {string} path */
const folderOf = (path) => path.slice(0, Math.max(0, path.indexOf('/')));

/**
 * @param {ReadonlyMap<string, string>} sources file name -> text of the modules of one package
 * @returns {Violation[]}
 */
export function checkPythonCycles(sources) {
  return findCycles(new Map([...sources].map(([file, text]) => [file, pythonImports(text)])));
}

/**
 * The modules of the package that a module imports, at any place in it.
 * @param {string} text
 * @returns {string[]}
 */
function pythonImports(text) {
  const ofModules = [...text.matchAll(/^[ \t]*from[ \t]+\.(\w+)[ \t]+import\b/gm)].map(([, name]) => name);
  const ofPackage = [...text.matchAll(/^[ \t]*from[ \t]+\.[ \t]+import[ \t]+(\([^)]*\)|.*)/gm)].flatMap(
    ([, names]) => [...names.matchAll(/(\w+)(?:[ \t]+as[ \t]+\w+)?/g)].map(([, name]) => name),
  );
  return [...ofModules, ...ofPackage].map((name) => `${name}.py`);
}
