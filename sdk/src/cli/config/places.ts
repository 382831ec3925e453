/** Finds the parts of the package that other programs use: the folders of a clone, or `share/` of an installed package (scripts/package-share.mjs). */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UscopeError } from '../../base/errors.js';
import { prebuiltLibrary } from './prebuilt.js';

/** From here, in src as in dist: the package, and what a clone has around it. */
export const PACKAGE = fileURLToPath(new URL('../../../', import.meta.url));
const SHARE = join(PACKAGE, 'share');
const CLONE = join(PACKAGE, '..');

export interface Places {
  /** SystemVerilog, its schemas, and in `mk` fragments for makefiles. */
  readonly sv: string;
  /** Sources of the client library: `include`, `src`, `Makefile`. */
  readonly client: string;
  /** Where a clone builds the library; null: an installed package is not written to. */
  readonly built: string | null;
}

/** @throws UscopeError ENV_MISSING where the package is not whole */
export function places(): Places {
  for (const [home, built] of [
    [CLONE, join(CLONE, 'dpi/build')],
    [SHARE, null],
  ] as const) {
    const found = { sv: join(home, 'sv'), client: join(home, 'dpi'), built };
    if (existsSync(join(found.sv, 'uscope_pkg.sv')) && existsSync(join(found.client, 'include/uscope.h')))
      return found;
  }
  throw new UscopeError(
    'ENV_MISSING',
    'the package has neither SystemVerilog nor the client library: it is not whole; install it anew',
    { file: PACKAGE },
  );
}

/** Names a directory with a built library. */
export const LIB_VARIABLE = 'USCOPE_LIB_DIR';

const HOW = `uscope config --build DIR builds it; then give --lib-dir DIR or set ${LIB_VARIABLE}`;

/**
 * With the libraries: what was asked for, else what the environment names, else what a clone has built, else what comes with the package.
 * @throws UscopeError ENV_MISSING
 */
export function libDirectory({ built }: Places, wanted: string | undefined): string {
  const given = wanted ?? process.env[LIB_VARIABLE];
  const directory = given ?? built;
  if (directory !== null && existsSync(join(directory, 'libuscope.so'))) return directory;
  if (given !== undefined)
    throw new UscopeError('ENV_MISSING', `no client library is here: ${HOW}`, { file: given });
  const prebuilt = prebuiltLibrary(PACKAGE);
  if ('directory' in prebuilt) return prebuilt.directory;
  throw new UscopeError('ENV_MISSING', `the client library is not built, and ${prebuilt.why}: ${HOW}`);
}
