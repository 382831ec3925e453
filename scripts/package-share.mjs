// @ts-check
/**
 * Puts into sdk/ what its npm package has of the rest of the repository: SystemVerilog with its schemas and makefile fragments, headers and
 * sources of the C client, Node's headers for addons, the licence. npm runs it before it packs, and with --remove afterwards.
 *
 *     node scripts/package-share.mjs [--remove]
 */
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const SDK = join(ROOT, 'sdk');
/** From the root to the package. */
const PARTS = [
  ['LICENSE', 'LICENSE'],
  ['sv', 'share/sv'],
  ['dpi/Makefile', 'share/dpi/Makefile'],
  ['dpi/install', 'share/dpi/install'],
  ['dpi/include', 'share/dpi/include'],
  ['dpi/src', 'share/dpi/src'],
  ['node_modules/node-api-headers/include', 'share/node-api'],
];

for (const path of ['LICENSE', 'share']) rmSync(join(SDK, path), { recursive: true, force: true });
if (!process.argv.includes('--remove')) {
  if (!existsSync(join(SDK, 'prebuilt')))
    console.warn(
      'note: this package has no prebuilt libraries (sdk/prebuilt), so its users need a C compiler; `npm run release` makes one that has them',
    );
  mkdirSync(join(SDK, 'share/dpi'), { recursive: true });
  for (const [from = '', to = ''] of PARTS) cpSync(join(ROOT, from), join(SDK, to), { recursive: true });
}
