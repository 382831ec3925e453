// @ts-check
/**
 * The rules of the house for imports, checked on the sources. Those of the C and the Python client are in client-imports.mjs, those of sdk/src here:
 *
 *   1. imports go downward only, along LEVELS; rooms of one level know nothing of each other;
 *   2. files do not import each other in circles (types alone may: they are gone at run time);
 *   3. folders do not import each other in circles, types included, inside a room either. A folder's `index.ts` or `main.ts` is its
 *      entry and lies above it;
 *   4. the folders that WALLS names (one for each foreign format) know nothing of each other;
 *   5. the rooms in PURE run in a browser: no Node builtins, no npm packages but those named, no code of other
 *      rooms (their types may be imported), except in reader/node*.ts and semantics/program/node-*.ts, which the rest does not
 *      import;
 *   6. the entries that BROWSER_ENTRIES names run in a browser, with all that they import: no Node builtins, nothing of Node's by its name
 *      (`Buffer`, `process`), no npm packages but those of BROWSER_PACKAGES;
 *   7. only the files that file-writers.mjs lists write, rename or open files.
 *
 * Kernels (wasm-modules.mjs) import nothing, and any file may import one. A name that begins with `#` is one of `imports` in sdk/package.json: it means one file in Node, another one in a browser.
 *
 * Tests (*.test.ts) are free of these rules: they may write with one part and read with another.
 *
 *     node scripts/check-imports.mjs [DIRECTORY]     default: sdk/src and the clients; exit status 0 in order, 1 violations
 */
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, posix, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { checkIncludes, checkPythonCycles } from './client-imports.mjs';
import { findCycles } from './cycles.mjs';
import { checkFileWriters } from './file-writers.mjs';
import { checkSpreadArguments } from './spread-arguments.mjs';
import { ROOT } from './step.mjs';
import { MODULE } from './wasm-modules.mjs';

/** Bottom to top. A folder may import from itself and from every level below its own. */
const LEVELS = [
  ['base'],
  ['codecs'],
  ['format'],
  ['state', 'schema', 'protocols', 'native'],
  ['writer', 'reader'],
  ['semantics', 'stream'],
  ['trace-index'],
  ['formats', 'tools', 'bridge', 'dataset'],
  ['recording'],
  ['cli'],
];

/** Room -> folders in it that its other folders share. Every other folder of the room knows these only. */
const WALLS = new Map([['formats', ['common', 'pipeline', 'retired', 'text']]]);

/** Folder -> npm packages it may import although it runs in a browser. */
const PURE = new Map([
  ['base', []],
  ['codecs', ['fzstd', 'xz-decompress']],
  ['format', []],
  ['state', []],
  ['schema', ['yaml']],
  ['protocols', []],
  ['reader', []],
  ['semantics', []],
]);

/** Public entries outside of PURE that pages may import. */
const BROWSER_ENTRIES = /^(formats\/[^/]+\/index|trace-index\/index)\.ts$/;
const BROWSER_PACKAGES = ['flatbuffers', 'fzstd', 'xz-decompress'];
const NODE_GLOBALS = new Set(['Buffer', 'process', 'require', '__dirname', '__filename', 'setImmediate']);
/** Most sources have none of these words, and need no tree. */
const ANY_NODE_GLOBAL = new RegExp(`\\b(?:${[...NODE_GLOBALS].join('|')})\\b`);

/** What the package as a whole offers is above everything but the command line. */
const ENTRY = 'index.ts';

const levelOf = new Map(LEVELS.flatMap((folders, level) => folders.map((folder) => [folder, level])));
const isNodeOnly = (/** @type {string} */ path) =>
  /^(reader\/node[^/]*|codecs\/node\/.*|semantics\/program\/node-[^/]*)\.ts$/.test(path);

/**
 * @typedef {object} Violation
 * @property {string} file
 * @property {string} rule
 */

/**
 * @param {ReadonlyMap<string, string>} sources path relative to the source root, with `/` -> text
 * @param {Platform} [platform]
 * @returns {Violation[]}
 */
export function checkImports(sources, platform = readPlatform()) {
  const files = new Map([...sources].filter(([path]) => !path.endsWith('.test.ts')));
  const graph = new Map([...files].map(([path, text]) => [path, importsOf(path, text, platform)]));
  const violations = [];
  for (const [file, imports] of graph) {
    for (const imported of imports) {
      const rule = imported.local ? checkLocal(file, imported, files) : checkPackage(file, imported.name);
      if (rule) violations.push({ file, rule });
    }
  }
  const runTime = new Map([...graph].map(([path, imports]) => [path, runTimeImports(imports)]));
  return [
    ...violations,
    ...findCycles(runTime),
    ...findCycles(folderGraph(graph)),
    ...checkBrowserEntries(files, graph),
  ];
}

/**
 * @typedef {object} Import
 * @property {boolean} local
 * @property {string} name Path of a source file when local, else the module's name.
 * @property {boolean} typeOnly
 * @property {'browser' | 'node'} [only] It is this file on one side only, by `imports` of package.json.
 */

/**
 * Name with `#`, which may end in `*` -> its source files, with the same `*`.
 * @typedef {ReadonlyMap<string, { readonly browser: string, readonly node: string }>} Platform
 */

/** @returns {Platform} of sdk/package.json */
function readPlatform() {
  const { imports } = JSON.parse(readFileSync(join(ROOT, 'sdk', 'package.json'), 'utf8'));
  const sourceOf = (/** @type {string} */ path) => path.replace(/^\.\/dist\//, '').replace(/\.js$/, '.ts');
  return new Map(
    Object.entries(imports).map(([name, conditions]) => [
      name,
      { browser: sourceOf(conditions.browser), node: sourceOf(conditions.default) },
    ]),
  );
}

/**
 * @param {string} name with `#`
 * @param {Platform} platform
 * @returns {readonly { name: string, only: 'browser' | 'node' }[]} none: package.json does not know it
 */
function platformFiles(name, platform) {
  const exact = platform.has(name)
    ? name
    : [...platform.keys()].find((key) => name.startsWith(key.replace(/\*$/, '')) && key.endsWith('*'));
  const files = exact === undefined ? undefined : platform.get(exact);
  if (exact === undefined || !files) return [];
  const part = name.slice(exact.length - 1);
  return [
    { name: files.browser.replace('*', part), only: 'browser' },
    { name: files.node.replace('*', part), only: 'node' },
  ];
}

/**
 * Every module a source names: static, type-only, re-exported, dynamic.
 * @param {string} path
 * @param {string} text
 * @param {Platform} platform
 * @returns {Import[]}
 */
function importsOf(path, text, platform) {
  const ofTypes = typeOnlySpecifiers(text);
  return ts.preProcessFile(text, true, true).importedFiles.flatMap(({ fileName, pos }) => {
    const typeOnly = ofTypes.has(pos);
    const onPlatforms = fileName.startsWith('#') ? platformFiles(fileName, platform) : [];
    if (onPlatforms.length > 0) return onPlatforms.map((file) => ({ local: true, typeOnly, ...file }));
    if (MODULE.test(fileName)) return [];
    if (!fileName.startsWith('.')) return { local: false, name: fileName, typeOnly };
    const name = posix.join(posix.dirname(path), fileName).replace(/\.js$/, '.ts');
    return { local: true, name, typeOnly };
  });
}

/** `import type` and `export type` of names, of all, or of a default, up to the quote of the module's name. */
const TYPE_ONLY =
  /(?:^|;)[ \t]*(?:import|export)\s+type\s+(?:\{[^}]*\}|\*(?:\s+as\s+[\w$]+)?|[\w$]+)\s*from\s*(?=['"])/gm;

/**
 * Where `import type` and `export type` name their modules: offsets of the quotes. Without a tree of the source, which takes most of the time.
 * @param {string} text
 * @returns {ReadonlySet<number>}
 */
function typeOnlySpecifiers(text) {
  return new Set([...text.matchAll(TYPE_ONLY)].map(({ 0: found, index }) => index + found.length));
}

/**
 * @param {string} file
 * @param {Import} imported
 * @param {ReadonlyMap<string, string>} files
 * @returns {string | null} the broken rule
 */
function checkLocal(file, { name, typeOnly, only }, files) {
  if (name.startsWith('../')) return `imports ${name}, outside the source root`;
  if (!files.has(name)) return `imports ${name}, which is not a source file`;
  const from = folderOf(file);
  const to = folderOf(name);
  if (PURE.has(from) && !isNodeOnly(file) && isNodeOnly(name) && only !== 'node') {
    return `imports ${name}, which needs Node, into code that runs in a browser`;
  }
  if (from === to) return checkWall(file, name);
  const fromLevel = file === ENTRY ? (levelOf.get('cli') ?? 0) : levelOf.get(from);
  const toLevel = levelOf.get(to);
  if (fromLevel === undefined) return `lies in ${from}, a folder without a level (scripts/check-imports.mjs)`;
  if (toLevel === undefined) return `imports ${name}, which lies in no folder with a level`;
  if (toLevel < fromLevel) {
    const leavesBrowser = PURE.has(from) && !isNodeOnly(file) && !PURE.has(to) && !typeOnly;
    return leavesBrowser ? `imports ${name}, which needs Node, into code that runs in a browser` : null;
  }
  return toLevel === fromLevel
    ? `imports ${name}: ${from} and ${to} know nothing of each other`
    : `imports ${name}: ${to} is above ${from}`;
}

/**
 * @param {string} file
 * @param {string} name of a file of the same room
 * @returns {string | null} the broken rule
 */
function checkWall(file, name) {
  const shared = WALLS.get(folderOf(file));
  const [from, to] = [file, name].map((path) => path.split('/').slice(1, -1)[0] ?? '');
  if (!shared || from === to || from === '' || shared.includes(to)) return null;
  return `imports ${name}: ${from} and ${to} know nothing of each other`;
}

/**
 * @param {string} file
 * @param {string} name
 * @returns {string | null}
 */
function checkPackage(file, name) {
  const allowed = PURE.get(folderOf(file));
  if (!allowed || isNodeOnly(file)) return null;
  if (name.startsWith('node:') || builtinModules.includes(name)) {
    return `imports ${name}: ${folderOf(file)} runs in a browser`;
  }
  return allowed.some((pkg) => name === pkg || name.startsWith(`${pkg}/`))
    ? null
    : `imports the package ${name}: ${folderOf(file)} allows ${allowed.join(', ') || 'none'}`;
}

/**
 * Follows each entry through all that a browser loads of it.
 * @param {ReadonlyMap<string, string>} files
 * @param {ReadonlyMap<string, readonly Import[]>} graph
 * @returns {Violation[]}
 */
function checkBrowserEntries(files, graph) {
  /** @type {Map<string, string>} file -> an entry that loads it */
  const loaded = new Map(
    [...files.keys()].filter((path) => BROWSER_ENTRIES.test(path)).map((path) => [path, path]),
  );
  /** @type {Violation[]} */
  const violations = [];
  for (const [file, entry] of loaded) {
    const refuse = (/** @type {string} */ what) =>
      violations.push({ file, rule: `${what}: ${entry}, which runs in a browser, loads it` });
    for (const { local, name, typeOnly, only } of graph.get(file) ?? []) {
      if (typeOnly || only === 'node') continue;
      if (local) {
        if (files.has(name) && !loaded.has(name)) loaded.set(name, entry);
      } else if (name.startsWith('node:') || builtinModules.includes(name)) refuse(`imports ${name}`);
      else if (!BROWSER_PACKAGES.some((pkg) => name === pkg || name.startsWith(`${pkg}/`)))
        refuse(`imports the package ${name}`);
    }
    for (const name of nodeGlobalsOf(file, files.get(file) ?? '')) refuse(`uses ${name}`);
  }
  return violations;
}

/**
 * @param {string} path
 * @param {string} text
 * @returns {ReadonlySet<string>}
 */
function nodeGlobalsOf(path, text) {
  /** @type {Set<string>} */
  const found = new Set();
  if (!ANY_NODE_GLOBAL.test(text)) return found;
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isTypeNode(node)) return;
    const isCalledOrRead =
      (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node) || ts.isNewExpression(node)) &&
      ts.isIdentifier(node.expression) &&
      NODE_GLOBALS.has(node.expression.text);
    if (isCalledOrRead) found.add(/** @type {ts.Identifier} */ (node.expression).text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.ES2022));
  return found;
}

/** @param {string} path */
function folderOf(path) {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : '';
}

/**
 * Types are gone at run time.
 * @param {readonly Import[]} imports
 */
function runTimeImports(imports) {
  return imports.filter(({ local, typeOnly }) => local && !typeOnly).map(({ name }) => name);
}

/**
 * Folder -> folders of the same room that its files import: between rooms, the levels say it.
 * @param {ReadonlyMap<string, readonly Import[]>} graph of files
 * @returns {Map<string, string[]>}
 */
function folderGraph(graph) {
  /** @type {Map<string, Set<string>>} */
  const folders = new Map();
  for (const [file, imports] of graph) {
    const from = unitOf(file);
    const targets = folders.get(from) ?? new Set();
    folders.set(from, targets);
    for (const { local, name } of imports) {
      const isInside = local && folderOf(name) === folderOf(file);
      if (isInside && unitOf(name) !== from) targets.add(unitOf(name));
    }
  }
  return new Map([...folders].map(([folder, targets]) => [folder, [...targets]]));
}

/**
 * The folder of a file; an entry (`index.ts`, `main.ts`) is a unit by itself, above its folder.
 * @param {string} path
 */
function unitOf(path) {
  return /(^|\/)(index|main)\.ts$/.test(path) ? path : `${posix.dirname(path)}/`;
}

/**
 * @param {string} directory
 * @param {readonly string[]} endings
 * @returns {Map<string, string>}
 */
export function readSources(directory, endings = ['.ts']) {
  const names = /** @type {string[]} */ (readdirSync(directory, { recursive: true, encoding: 'utf8' }));
  const sources = names.filter((name) => endings.some((ending) => name.endsWith(ending))).sort();
  return new Map(
    sources.map((name) => [name.split(sep).join('/'), readFileSync(join(directory, name), 'utf8')]),
  );
}

/** @typedef {{ directory: string, sources: Map<string, string>, violations: Violation[] }} Checked */

/** @returns {Checked[]} */
export function checkClients() {
  const c = join(ROOT, 'dpi', 'src');
  const python = join(ROOT, 'cocotb-adapter', 'src', 'cocotbext', 'uscope');
  const includes = readSources(c, ['.c', '.h']);
  const modules = readSources(python, ['.py']);
  const publicHeaders = new Set(readdirSync(join(ROOT, 'dpi', 'include')));
  return [
    { directory: c, sources: includes, violations: checkIncludes(includes, publicHeaders) },
    { directory: python, sources: modules, violations: checkPythonCycles(modules) },
  ];
}

/**
 * @param {string} directory
 * @returns {Checked}
 */
function checkSdk(directory) {
  const sources = readSources(directory);
  return {
    directory,
    sources,
    violations: [...checkImports(sources), ...checkFileWriters(sources), ...checkSpreadArguments(sources)],
  };
}

function main() {
  const given = process.argv[2];
  const checked = given ? [checkSdk(given)] : [checkSdk(join(ROOT, 'sdk', 'src')), ...checkClients()];
  for (const { directory, violations } of checked) {
    const shown = relative(process.cwd(), directory);
    for (const { file, rule } of violations) console.error(`${posix.join(shown, file)}: ${rule}`);
  }
  const files = checked.reduce((sum, { sources }) => sum + sources.size, 0);
  const violations = checked.reduce((sum, one) => sum + one.violations.length, 0);
  console.log(`${files} files, ${violations} violations`);
  process.exitCode = violations || checked.some(({ sources }) => sources.size === 0) ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
