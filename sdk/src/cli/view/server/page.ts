/** The files of the viewer's page, as they lie in the package. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { UscopeError } from '../../../base/errors.js';

/** Name -> type. Nothing else is served. */
export const PAGE_FILES: ReadonlyMap<string, string> = new Map([
  ['index.html', 'text/html; charset=utf-8'],
  ['style.css', 'text/css; charset=utf-8'],
  ['page.js', 'text/javascript; charset=utf-8'],
  ['drawing.js', 'text/javascript; charset=utf-8'],
  ['data.js', 'text/javascript; charset=utf-8'],
  ['questions.js', 'text/javascript; charset=utf-8'],
  ['index-kernel.js', 'text/javascript; charset=utf-8'],
  ['runs.html', 'text/html; charset=utf-8'],
  ['runs.css', 'text/css; charset=utf-8'],
  ['runs.js', 'text/javascript; charset=utf-8'],
  ['compare.html', 'text/html; charset=utf-8'],
  ['compare.css', 'text/css; charset=utf-8'],
  ['compare.js', 'text/javascript; charset=utf-8'],
  ['compare-data.js', 'text/javascript; charset=utf-8'],
  ['together.html', 'text/html; charset=utf-8'],
  ['together.css', 'text/css; charset=utf-8'],
  ['together.js', 'text/javascript; charset=utf-8'],
]);

/** The path is the same from `sdk/dist/cli/view/server` and from `sdk/src/cli/view/server`, where tests run. */
const DIRECTORY = fileURLToPath(new URL('../../../../dist/viewer/', import.meta.url));

/** @throws UscopeError ENV_MISSING where the page has not been built */
export async function readPage(directory = DIRECTORY): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  for (const name of PAGE_FILES.keys()) {
    try {
      files.set(name, await readFile(`${directory}/${name}`));
    } catch (error) {
      throw new UscopeError(
        'ENV_MISSING',
        `the viewer's page is not built (${name} is missing); in a clone of the repository run: npm run build`,
        { file: directory },
        { cause: error },
      );
    }
  }
  return files;
}

/** The paths of a page that answer about the program. */
export const PROGRAM_PATH = '/program.elf';
export const LINES_PATH = '/lines.json';

/** The same relative to the page. */
export const PROGRAM_PLACES = { elf: PROGRAM_PATH.slice(1), lines: LINES_PATH.slice(1) } as const;

/** Addresses, relative to the page. */
export interface PagePlaces {
  /** The trace. */
  readonly address: string;
  /** Where the page asks how far the trace is; null: it is there. */
  readonly status?: string | null;
  /** Where it asks what the trace's daemon says; null: nowhere. */
  readonly recording?: string | null;
  /** Where it sends commands to that daemon; null: it may only look. */
  readonly control?: string | null;
  /** Where it asks in SQL; null: nowhere. */
  readonly sql?: string | null;
  /** The program's ELF file, and where it asks for lines of source; null: no program was given. */
  readonly program?: ProgramPlaces | null;
}

/** Relative to the page. */
export interface ProgramPlaces {
  readonly elf: string;
  /** null: there is no server that could read them. */
  readonly lines: string | null;
}

/** Names to the page the trace to open, in its head. */
export function withTraceNamed(
  html: string,
  name: string,
  { address, status = null, recording = null, control = null, sql = null, program = null }: PagePlaces,
): string {
  return withNames(html, {
    'uscope-trace': address,
    'uscope-name': name,
    'uscope-status': status,
    'uscope-recording': recording,
    'uscope-control': control,
    'uscope-sql': sql,
    ...programNames(program),
  });
}

/** Names to the list of a directory where commands go. */
export const withControlNamed = (html: string, control: string): string =>
  withNames(html, { 'uscope-control': control });

/** Names to a page of which the address says the trace the program that ran. */
export const withProgramNamed = (html: string, program: ProgramPlaces): string =>
  withNames(html, programNames(program));

const programNames = (program: ProgramPlaces | null): Readonly<Record<string, string | null>> => ({
  'uscope-elf': program?.elf ?? null,
  'uscope-lines': program?.lines ?? null,
});

/** A trace of two, as the page of both names it. */
export interface ComparedPart {
  /** Relative to the page. */
  readonly address: string;
  readonly name: string;
}

/**
 * Names to the page of two runs what it compares.
 * @param elf address of the program's ELF file; null: none was given
 */
export function withTracesNamed(html: string, a: ComparedPart, b: ComparedPart, elf: string | null): string {
  return withNames(html, {
    'uscope-a': a.address,
    'uscope-a-name': a.name,
    'uscope-b': b.address,
    'uscope-b-name': b.name,
    'uscope-elf': elf,
  });
}

/** Names to the page of several traces which ones it shows, and the program. @param addresses relative to the page */
export const withAllNamed = (
  html: string,
  addresses: readonly string[],
  program: ProgramPlaces | null,
): string =>
  withMetas(html, [
    ...addresses.map((address) => ['uscope-trace', address] as const),
    ...Object.entries(programNames(program)),
  ]);

const withNames = (html: string, names: Readonly<Record<string, string | null>>): string =>
  withMetas(html, Object.entries(names));

/** @param names null: nothing is said of it */
function withMetas(html: string, names: readonly (readonly [key: string, value: string | null])[]): string {
  const metas = names.map(([key, value]) =>
    value === null ? '' : `\n    <meta name="${key}" content="${escaped(value)}" />`,
  );
  // As a function: a name may hold what replacements give a meaning.
  return html.replace('</title>', () => `</title>${metas.join('')}`);
}

export function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
  };
  return text.replace(/[&<>"]/g, (character) => entities[character]!);
}
