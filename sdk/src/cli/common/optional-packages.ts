/** Packages that only some verbs need: npm installs those of recording unless `--omit=optional` says not to, and the others only when asked for. */

import { UscopeError } from '../../base/errors.js';

interface Need {
  /** Verb and all. */
  readonly who: string;
  /** What npm installs, of all that is needed for it. */
  readonly packages: string;
}

const MCP: Need = { who: 'uscope mcp needs', packages: '@modelcontextprotocol/sdk zod' };

const OPTIONAL: ReadonlyMap<string, Need> = new Map([
  ['zeromq', { who: 'recording and the connection to a daemon need', packages: 'zeromq' }],
  ['@modelcontextprotocol/sdk', MCP],
  ['zod', MCP],
  ['@napi-rs/canvas', { who: 'uscope view --png needs', packages: '@napi-rs/canvas@1' }],
]);

/** Node's message about a package that is not there, as an error that says what to do; null for any other failure. */
export async function missingPackage(failure: unknown): Promise<UscopeError | null> {
  if (!(failure instanceof Error) || (failure as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND')
    return null;
  const name = /^Cannot find package '([^']+)'/.exec(failure.message)?.[1] ?? '';
  const path = name.slice(name.lastIndexOf('/node_modules/') + 1).replace(/^node_modules\//, '');
  for (const [known, { who, packages }] of OPTIONAL) {
    if (path !== known && !path.startsWith(`${known}/`)) continue;
    // Not loaded by commands that go well.
    const { installCommand } = await import('../../native/install-command.js');
    return new UscopeError(
      'ENV_MISSING',
      `${who} the package ${known}, which is not installed: ${installCommand(packages)}`,
      {},
      { cause: failure },
    );
  }
  return null;
}
