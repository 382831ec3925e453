// @ts-check
/** Hooks of Node's module loader: TypeScript sources, under the names that they have when they are built. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SDK = new URL('../../sdk/', import.meta.url);
const PLATFORM = '#platform/';
/** @type {{ imports: Record<string, { default: string }> }} */
const { imports } = JSON.parse(readFileSync(new URL('package.json', SDK), 'utf8'));

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, next) {
  const isFromSource = context.parentURL?.endsWith('.ts');
  if (isFromSource && specifier.startsWith(PLATFORM)) return next(platformSource(specifier), context);
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
  if (!url.endsWith('.ts')) return next(url, context);
  return { format: 'module', source: await javaScriptOf(fileURLToPath(url)), shortCircuit: true };
}

/** What sources were compiled to, kept for the next thread: each would load the compiler otherwise, which takes longer than anything else it does. */
const KEPT = fileURLToPath(new URL('../../node_modules/.cache/uscope-sources/', import.meta.url));

/** @param {string} path */
async function javaScriptOf(path) {
  const source = readFileSync(path, 'utf8');
  const file = join(KEPT, `${createHash('sha256').update(path).update(source).digest('hex')}.js`);
  try {
    return readFileSync(file, 'utf8');
  } catch {
    const { default: ts } = await import('typescript');
    const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
    const { outputText } = ts.transpileModule(source, { compilerOptions });
    const written = `${file}.${process.pid}.${Math.random()}`;
    mkdirSync(KEPT, { recursive: true });
    writeFileSync(written, outputText);
    renameSync(written, file);
    return outputText;
  }
}
