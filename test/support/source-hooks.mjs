// @ts-check
/** Hooks of Node's module loader: TypeScript sources, under the names that they have when they are built. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'rolldown/utils';
import { MODULE, wasmModule } from '../../scripts/wasm-modules.mjs';

const SDK = new URL('../../sdk/', import.meta.url);
const SOURCES = new URL('src/', SDK).href;
const OPTIONS = { target: 'es2022', sourcemap: false, tsconfig: false };
const PLATFORM = '#platform/';
/** @type {{ imports: Record<string, { default: string }> }} */
const { imports } = JSON.parse(readFileSync(new URL('package.json', SDK), 'utf8'));

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, next) {
  const isFromSource = context.parentURL?.endsWith('.ts');
  if (isFromSource && specifier.startsWith(PLATFORM)) return next(platformSource(specifier), context);
  if (isFromSource && MODULE.test(specifier)) {
    return { url: new URL(specifier, context.parentURL).href, format: 'module', shortCircuit: true };
  }
  return next(isFromSource && specifier.startsWith('.') ? toSource(specifier) : specifier, context);
}

const toSource = (/** @type {string} */ name) => name.replace(/\.js$/, '.ts');

/**
 * The source of the file to which sdk/package.json maps a name.
 * @param {string} name
 */
function platformSource(name) {
  const { default: built } = imports[name] ?? imports[`${PLATFORM}*`];
  const source = toSource(built.replace('./dist/', 'src/').replace('*', name.slice(PLATFORM.length)));
  return new URL(source, SDK).href;
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  const isKernel = MODULE.test(url) && url.startsWith(SOURCES);
  if (isKernel) return { format: 'module', source: wasmModule(fileURLToPath(url)), shortCircuit: true };
  if (!url.endsWith('.ts')) return next(url, context);
  return { format: 'module', source: javaScriptOf(fileURLToPath(url)), shortCircuit: true };
}

/**
 * By a compiler in machine code, which vitest's own processes have too: TypeScript's takes half a second to load in each thread, and a
 * hundred times as long for a file.
 * @param {string} path
 */
function javaScriptOf(path) {
  const { code, errors } = transformSync(path, readFileSync(path, 'utf8'), OPTIONS);
  if (errors.length > 0) throw new SyntaxError(`${path}: ${errors[0].message}`);
  return code;
}
