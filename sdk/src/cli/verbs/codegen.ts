/** `uscope codegen`: a schema -> source code with its ids and typed functions. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { type Command, Option } from 'commander';
import { UscopeError } from '../../base/errors.js';
import { canonicalSchema } from '../../schema/canonical.js';
import { type CodegenLanguage, generateCode } from '../../schema/codegen/index.js';
import { parseUnboundSchema } from '../../schema/parse.js';
import { io } from '../common/io.js';

type CodegenOptions = { readonly [language in CodegenLanguage]?: boolean } & {
  readonly output?: string;
  readonly name?: string;
  readonly qualified?: boolean;
};

const LANGUAGES: Readonly<Record<CodegenLanguage, string>> = {
  sv: 'a SystemVerilog package, NAME_trace_pkg',
  c: 'a header for C11 and C++',
  cpp: 'a header for C++17, over uscope.hpp',
  py: 'a Python module',
  ts: 'a TypeScript module',
};
const NAME = /^[A-Za-z][A-Za-z0-9_]*$/;

export function register(program: Command): void {
  const command = program
    .command('codegen')
    .summary('typed code for a schema: SystemVerilog, C, C++, Python or TypeScript')
    .description('Writes ids, enum values and typed functions for a schema file (docs/codegen.md).')
    .argument('<schema>', 'schema file (docs/schema.md)');
  const languages = Object.keys(LANGUAGES) as CodegenLanguage[];
  for (const language of languages) {
    const others = languages.filter((other) => other !== language);
    command.addOption(new Option(`--${language}`, LANGUAGES[language]).conflicts(others));
  }
  command
    .option('-o, --output <file>', 'where to; default stdout')
    .option(
      '--name <name>',
      "what packages, classes and C names are called after; default the schema file's name",
    )
    .option('--qualified', 'scope paths in all names, not only in those that several scopes define')
    .action(generate);
}

function generate(file: string, options: CodegenOptions): void {
  const language = (Object.keys(LANGUAGES) as CodegenLanguage[]).find((key) => options[key]);
  if (!language) throw new UscopeError('CLI_USAGE', 'no language; give one of --sv, --c, --cpp, --py, --ts');
  const schema = parseUnboundSchema(readSchemaFile(file), { file });
  const code = generateCode(language, {
    schema,
    sha256: createHash('sha256').update(canonicalSchema(schema.schema)).digest('hex'),
    name: nameOf(file, options.name),
    source: basename(file),
    qualified: options.qualified,
  });
  if (options.output === undefined) io.out(code);
  else writeCode(options.output, code);
}

function nameOf(file: string, given: string | undefined): string {
  if (given === undefined) return basename(file, extname(file));
  if (NAME.test(given)) return given;
  throw new UscopeError('CLI_USAGE', `"${given}" is no name; use a letter first, then letters, digits and _`);
}

function readSchemaFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const detail = `the schema cannot be read: ${(cause as Error).message}`;
    throw new UscopeError('CLI_USAGE', detail, { file }, { cause });
  }
}

function writeCode(file: string, code: string): void {
  try {
    writeFileSync(file, code);
  } catch (cause) {
    throw new UscopeError(
      'WRITER_IO',
      `the code cannot be written: ${(cause as Error).message}`,
      { file },
      { cause },
    );
  }
}
