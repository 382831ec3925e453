/** A module of ours as a separate file, for processes that are to load only it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';

/** Compiles one module, which imports none of ours, to `NAME.mjs` in `directory`. */
export function compileAlone(source: URL, directory: string): void {
  const { outputText } = ts.transpileModule(readFileSync(source, 'utf8'), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  writeFileSync(join(directory, `${basename(source.pathname, '.ts')}.mjs`), outputText);
}
