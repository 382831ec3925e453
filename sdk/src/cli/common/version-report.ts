/** `uscope --version --verbose`: which of the parts that differ from machine to machine run here, and why. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isUscopeError } from '../../base/errors.js';
import { PRODUCT } from '../../bridge/wire/version.js';
import { zstdOfNode, zstdPackage } from '../../codecs/node/zstd.js';
import { nativeAddonPath, refusedAddons } from '../../native/native-addon.js';
import { LIB_VARIABLE, libDirectory, places } from '../config/places.js';
import { glibcVersion } from '../config/prebuilt.js';

/** Lines. */
export function versionReport(): string[] {
  const glibc = glibcVersion();
  return [
    PRODUCT,
    `Node.js ${process.versions.node}, ${process.platform} ${process.arch}${glibc === null ? '' : `, glibc ${glibc}`}`,
    `kernel: ${kernel()}`,
    `client library: ${clientLibrary()}`,
    `zeromq: ${zeromq()}`,
    `zstd: ${zstd()}`,
  ];
}

function kernel(): string {
  const path = nativeAddonPath();
  const refused = refusedAddons();
  const why = refused.length > 0 ? `; ${refused.join('; ')}` : '';
  if (path !== null) return `machine code, ${path}${why}`;
  const none = refused.length > 0 ? why : `; there is none for ${process.platform} ${process.arch}`;
  return `WebAssembly${none}; uscope config --build-kernel builds machine code with your C compiler`;
}

function clientLibrary(): string {
  try {
    const directory = libDirectory(places(), undefined);
    const kind = existsSync(join(directory, 'libuscope.a')) ? 'the libzmq of the system' : 'libzmq in it';
    const from = process.env[LIB_VARIABLE] === undefined ? '' : `, from ${LIB_VARIABLE}`;
    return `${directory} (${kind}${from})`;
  } catch (failure) {
    if (isUscopeError(failure)) return failure.message;
    throw failure;
  }
}

function zeromq(): string {
  try {
    const { version: libzmq } = createRequire(import.meta.url)('zeromq') as { version: string };
    const file = loadedFile(/[\\/]zeromq[\\/]build[\\/].*\.node$/);
    return `libzmq ${libzmq}${file === null ? '' : `, ${file}`}`;
  } catch (failure) {
    const [first] = (failure as Error).message.split('\n');
    const isThere = (failure as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND';
    return isThere
      ? `does not load: ${first}`
      : 'not installed; recording and the connection to a daemon need it';
  }
}

/** A native module of this process. */
function loadedFile(name: RegExp): string | null {
  const { sharedObjects } = process.report.getReport() as unknown as { sharedObjects: string[] };
  return sharedObjects.find((path) => name.test(path)) ?? null;
}

function zstd(): string {
  if (zstdOfNode !== null) return "Node's";
  return zstdPackage() === null ? 'read only; zstd-napi is not installed' : 'the package zstd-napi';
}
