/** A schema -> source code with its ids, enums and typed functions. */
import { generateC } from './c.js';
import { generateCpp } from './cpp.js';
import { buildModel, type CodegenInput, type CodeModel } from './model.js';
import { generatePython } from './python.js';
import { generateSv } from './sv.js';
import { generateTypeScript } from './typescript.js';

export type { CodegenInput } from './model.js';
export type CodegenLanguage = 'sv' | 'c' | 'cpp' | 'py' | 'ts';

const GENERATORS: Readonly<Record<CodegenLanguage, (model: CodeModel) => string>> = {
  sv: generateSv,
  c: generateC,
  cpp: generateCpp,
  py: generatePython,
  ts: generateTypeScript,
};

/**
 * Generates one source file. The same schema and name always give the same text.
 * @throws UscopeError SCHEMA_VARIABLE when a default cannot be passed on
 */
export function generateCode(language: CodegenLanguage, input: CodegenInput): string {
  return GENERATORS[language](buildModel(input));
}
