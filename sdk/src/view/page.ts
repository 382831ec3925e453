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
  ['index-kernel.js', 'text/javascript; charset=utf-8'],
  ['index-reference.js', 'text/javascript; charset=utf-8'],
  ['helper.js', 'text/javascript; charset=utf-8'],
  ['plain-blocks.js', 'text/javascript; charset=utf-8'],
  ['svg.js', 'text/javascript; charset=utf-8'],
  ['panels.js', 'text/javascript; charset=utf-8'],
  ['questions.js', 'text/javascript; charset=utf-8'],
  ['forms.js', 'text/javascript; charset=utf-8'],
  ['index_making.js', 'text/javascript; charset=utf-8'],
  ['panels.css', 'text/css; charset=utf-8'],
  ['noc.js', 'text/javascript; charset=utf-8'],
  ['runs.html', 'text/html; charset=utf-8'],
  ['runs.css', 'text/css; charset=utf-8'],
  ['runs.js', 'text/javascript; charset=utf-8'],
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

/**
 * Names to the page the trace to open, in its head.
 * @param address relative to the page
 * @param status where the page asks how far the trace is; null: it is there
 */
export function withTraceNamed(
  html: string,
  address: string,
  name: string,
  status: string | null = null,
): string {
  const meta = (key: string, value: string): string =>
    `\n    <meta name="${key}" content="${escaped(value)}" />`;
  const named = `</title>${meta('uscope-trace', address)}${meta('uscope-name', name)}`;
  const whole = status === null ? named : named + meta('uscope-status', status);
  // As a function: a name may hold what replacements give a meaning.
  return html.replace('</title>', () => whole);
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
