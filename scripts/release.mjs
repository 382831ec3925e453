// @ts-check
/**
 * `npm run release`: everything that a release consists of, in build/release/uscope-VERSION, with checksums; then the proofs that each part works where
 * nothing of the clone can be read.
 *
 *     npm run release [-- --no-proofs] [--proofs-only [--resume DIR]]
 *
 * --no-proofs only makes the packages. --proofs-only proves packages that are there; with --resume it leaves out what has passed. The proofs take
 * about twenty minutes.
 *
 * Exit status: 0 all is made and proved, 1 a part failed (RELEASE_…), 2 the machine lacks something (ENV_MISSING).
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPrebuilt, MACHINES } from './release/native.mjs';
import { madePackages, makePackages } from './release/packages.mjs';
import { prove } from './release/proofs.mjs';
import { build, runScript, SetupError, setUpPackages } from './setup.mjs';
import { ROOT } from './step.mjs';

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      'no-proofs': { type: 'boolean' },
      'proofs-only': { type: 'boolean' },
      resume: { type: 'string' },
    },
  });
  if (!values['proofs-only']) {
    checkVersions();
    await setUpPackages('test');
    await build();
    await buildPrebuilt(/** @type {import('./release/native.mjs').Machine[]} */ (Object.keys(MACHINES)));
  }
  const release = values['proofs-only'] ? madePackages() : await makePackages();
  for (const name of readdirSync(release.folder).sort())
    console.log(
      `      ${(statSync(join(release.folder, name)).size / 1e6).toFixed(2).padStart(7)} MB  ${name}`,
    );
  console.log(`      in ${release.folder}`);
  if (values['no-proofs']) return 0;
  const { passed, failed } = prove(release, values.resume);
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
});

/** One version in all files. @throws {SetupError} RELEASE_VERSION */
function checkVersions() {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/version.mjs', '--check'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (status !== 0) throw new SetupError(`RELEASE_VERSION: ${stderr.trim()}`, 1);
}
