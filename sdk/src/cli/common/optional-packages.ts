/** Packages that only recording and the server for assistants need: `npm install --omit=optional` leaves them out, and so does a failed install script. */
import { UscopeError } from '../../base/errors.js';

/** Package → what needs it. */
const OPTIONAL: ReadonlyMap<string, string> = new Map([
  ['zeromq', 'recording and the connection to a daemon need'],
  ['@modelcontextprotocol/sdk', 'uscope mcp needs'],
  ['zod', 'uscope mcp needs'],
]);

/** Node's message about a package that is not there, as an error that says what to do; null for any other failure. */
export function missingPackage(failure: unknown): UscopeError | null {
  if (!(failure instanceof Error) || (failure as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND')
    return null;
  const name = /^Cannot find package '([^']+)'/.exec(failure.message)?.[1] ?? '';
  const path = name.slice(name.lastIndexOf('/node_modules/') + 1).replace(/^node_modules\//, '');
  for (const [known, need] of OPTIONAL) {
    if (path !== known && !path.startsWith(`${known}/`)) continue;
    return new UscopeError(
      'ENV_MISSING',
      `${need} the package ${known}, which is not installed: npm install ${known}`,
      {},
      { cause: failure },
    );
  }
  return null;
}
