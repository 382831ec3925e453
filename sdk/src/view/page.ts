/** The files of the viewer's page, as they lie in the package. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { UscopeError } from '../base/errors.js';

/** Name -> type. Nothing else is served. */
export const PAGE_FILES: ReadonlyMap<string, string> = new Map([
  ['index.html', 'text/html; charset=utf-8'],
  ['style.css', 'text/css; charset=utf-8'],
  ['page.js', 'text/javascript; charset=utf-8'],
  ['drawing.js', 'text/javascript; charset=utf-8'],
  ['data.js', 'text/javascript; charset=utf-8'],
  ['noc.js', 'text/javascript; charset=utf-8'],
]);

/** From `sdk/dist/view` and from `sdk/src/view`, where tests run. */
const DIRECTORY = fileURLToPath(new URL('../../dist/viewer/', import.meta.url));

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

/** Tells the page which trace to open: two elements in its head. @param address relative to the page */
export function withTraceNamed(html: string, address: string, name: string): string {
  const meta = (key: string, value: string): string => `<meta name="${key}" content="${escaped(value)}" />`;
  const named = `</title>\n    ${meta('uscope-trace', address)}\n    ${meta('uscope-name', name)}`;
  // As a function: a name may hold what replacements give a meaning.
  return html.replace('</title>', () => named);
}

function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
  };
  return text.replace(/[&<>"]/g, (character) => entities[character]!);
}
