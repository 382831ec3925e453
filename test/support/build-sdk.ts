/** The compiled SDK: what runs as a process is what was compiled. */
export { buildSdk } from '../../scripts/sdk-build.mjs';
