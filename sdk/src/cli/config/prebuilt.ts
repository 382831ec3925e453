/** Client libraries that come with the package, and whether one is for this machine. scripts/release/native.mjs builds them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The libraries need no newer one. */
export const OLDEST_GLIBC = '2.28';

export type Prebuilt = { readonly directory: string } | { readonly why: string };

/** @param home the package */
export function prebuiltLibrary(home: string): Prebuilt {
  const machine = `${process.platform}-${process.arch}`;
  const directory = join(home, 'prebuilt', machine);
  if (!existsSync(join(directory, 'libuscope.so')))
    return { why: `the package has no prebuilt one for ${machine}` };
  const version = glibcVersion();
  if (version === null) return { why: 'the prebuilt one is for glibc, which this system does not have' };
  if (isOlder(version, OLDEST_GLIBC))
    return { why: `the prebuilt one needs glibc ${OLDEST_GLIBC}, this is ${version}` };
  return { directory };
}

/** null where there is another C library. */
export function glibcVersion(): string | null {
  const { header } = process.report.getReport() as unknown as {
    header: { glibcVersionRuntime?: string };
  };
  return header.glibcVersionRuntime ?? null;
}

export function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = than.split('.').map(Number);
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor);
}
