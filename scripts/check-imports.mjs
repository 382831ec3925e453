// @ts-check
/**
 * The rules of the house for imports, checked on the sources. Those of the C and the Python client are in client-imports.mjs, those of sdk/src here:
 *
 *   1. imports go downward only, along LEVELS; folders of one level know nothing of each other;
 *   2. files do not import each other in circles (types alone may: they are gone at run time);
 *   3. the folders in PURE run in a browser: no Node builtins, no npm packages but those named, except in reader/node*.ts,
 *      which the rest of the reader does not import.
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
import { ROOT } from './step.mjs';

/** Bottom to top. A folder may import from itself and from every level below its own. */
const LEVELS = [
  ['base'],
  ['format'],
  ['state', 'schema'],
  ['writer', 'reader'],
  ['protocols'],
  ['convert'],
  ['bridge'],
  ['cli'],
];

/** Folder -> npm packages it may import although it runs in a browser. */
const PURE = new Map([
  ['base', []],
  ['format', []],
  ['state', []],
  ['schema', ['yaml']],
  ['reader', []],
]);

/** What the package as a whole offers stands above everything but the command line. */
const ENTRY = 'index.ts';

const levelOf = new Map(LEVELS.flatMap((folders, level) => folders.map((folder) => [folder, level])));
const isNodeOnly = (/** @type {string} */ path) => /^reader\/node[^/]*\.ts$/.test(path);

/**
 * @typedef {object} Violation
 * @property {string} file
 * @property {string} rule
 */

/**
 * @param {ReadonlyMap<string, string>} sources path relative to the source root, with `/` -> text
 * @returns {Violation[]}
 */
export function checkImports(sources) {
  const files = new Map([...sources].filter(([path]) => !path.endsWith('.test.ts')));
  const graph = new Map([...files].map(([path, text]) => [path, importsOf(path, text)]));
  const violations = [];
  for (const [file, imports] of graph) {
    for (const imported of imports) {
      const rule = imported.local ? checkLocal(file, imported, files) : checkPackage(file, imported.name);
      if (rule) violations.push({ file, rule });
    }
  }
  const values = [...graph].map(
    ([file, imports]) =>
      /** @type {const} */ ([
        file,
        imports.filter((one) => one.local && !one.typeOnly).map(({ name }) => name),
      ]),
  );
  return [...violations, ...findCycles(new Map(values))];
}

/**
 * @typedef {object} Import
 * @property {boolean} local
 * @property {string} name Path of a source file when local, else the module's name.
 * @property {boolean} typeOnly
 */

/**
 * Every module a source names: static, type-only, re-exported, dynamic.
 * @param {string} path
 * @param {string} text
 * @returns {Import[]}
 */
function importsOf(path, text) {
  const types = typeOnlySpecifiers(path, text);
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName, pos }) => {
    const typeOnly = types.some((node) => node.pos <= pos && pos < node.end);
    if (!fileName.startsWith('.')) return { local: false, name: fileName, typeOnly };
    const name = posix.join(posix.dirname(path), fileName).replace(/\.js$/, '.ts');
    return { local: true, name, typeOnly };
  });
}

/**
 * Where `import type` and `export type` name their modules.
 * @param {string} path
 * @param {string} text
 */
function typeOnlySpecifiers(path, text) {
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022);
  return statements.flatMap((node) => {
    if (ts.isImportDeclaration(node) && node.importClause?.isTypeOnly) return [node.moduleSpecifier];
    if (ts.isExportDeclaration(node) && node.isTypeOnly && node.moduleSpecifier)
      return [node.moduleSpecifier];
    return [];
  });
}

/**
 * @param {string} file
 * @param {Import} imported
 * @param {ReadonlyMap<string, string>} files
 * @returns {string | null} the broken rule
 */
function checkLocal(file, { name }, files) {
  if (name.startsWith('../')) return `imports ${name}, outside the source root`;
  if (!files.has(name)) return `imports ${name}, which is not a source file`;
  const from = folderOf(file);
  const to = folderOf(name);
  if (PURE.has(from) && !isNodeOnly(file) && isNodeOnly(name)) {
    return `imports ${name}, which needs Node, into code that runs in a browser`;
  }
  if (from === to) return null;
  const fromLevel = file === ENTRY ? (levelOf.get('cli') ?? 0) : levelOf.get(from);
  const toLevel = levelOf.get(to);
  if (fromLevel === undefined)
    return `stands in ${from}, a folder without a level (scripts/check-imports.mjs)`;
  if (toLevel === undefined) return `imports ${name}, which stands in no folder with a level`;
  if (toLevel < fromLevel) return null;
  return toLevel === fromLevel
    ? `imports ${name}: ${from} and ${to} know nothing of each other`
    : `imports ${name}: ${to} is above ${from}`;
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

/** @param {string} path */
function folderOf(path) {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : '';
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
  return { directory, sources, violations: checkImports(sources) };
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
