// @ts-check
/** Hooks of Node's module loader: TypeScript sources, under the names that they have when they are built. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const SOURCES = new URL('../../sdk/src/', import.meta.url);
/** As vitest.config.ts has them. @type {Record<string, string>} */
const PLATFORM = { addon: 'native/native-addon.ts', threads: 'workers/node-threads.ts' };

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, next) {
  const platform = /^#platform\/([a-z0-9]+)$/.exec(specifier)?.[1];
  if (platform)
    return next(new URL(PLATFORM[platform] ?? `codecs/node/${platform}.ts`, SOURCES).href, context);
  const isSource = specifier.startsWith('.') && context.parentURL?.endsWith('.ts');
  return next(isSource ? specifier.replace(/\.js$/, '.ts') : specifier, context);
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
  const { outputText } = ts.transpileModule(readFileSync(fileURLToPath(url), 'utf8'), { compilerOptions });
  return { format: 'module', source: outputText, shortCircuit: true };
}
