/** The file by which `uscope ctl` finds the daemon that writes into a directory. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isUscopeError, type UscopeError } from '../../base/errors.js';
import { PRIVATE_MODE } from '../../base/file-mode.js';
import { replaceFile } from '../../writer/output/atomic-file.js';
import { makeDirectories } from '../../writer/output/directories.js';
import { readOwnFileSync } from '../../writer/output/own-file.js';
import { isRunning, processStart } from '../../writer/output/process-name.js';

export interface DaemonPlace {
  readonly endpoint: string;
  readonly pid: number;
  /** Start time of that process, in clock ticks since boot. */
  readonly start: bigint;
  /** Only clients with listed keys get in. */
  readonly needsKeys: boolean;
}

const PREFIX = '.uscope-daemon.';
const SUFFIX = '.json';
const MAX_BYTES = 4096;

/**
 * Leaves word where this process listens, for its owner alone; what daemons left that were killed is removed. Returns what takes the word
 * back.
 * @param onTrouble called with the reason why there is no file: the daemon works all the same, `uscope ctl` has to be given its endpoint
 */
export async function announceDaemon(
  directory: string,
  endpoint: string,
  needsKeys: boolean,
  onTrouble: (why: string) => void,
): Promise<() => void> {
  const { pid } = process;
  const path = join(directory, `${PREFIX}${pid}${SUFFIX}`);
  const text = JSON.stringify({ endpoint, pid, start: String(processStart(pid) ?? 0n), keys: needsKeys });
  try {
    await makeDirectories(directory);
    findDaemons(directory);
    await replaceFile(path, `${text}\n`, PRIVATE_MODE);
  } catch (error) {
    onTrouble(`\`uscope ctl\` will not find this daemon by its directory: ${(error as Error).message}`);
  }
  return () => rmSync(path, { force: true });
}

/** What is left of one whose daemon was killed while it wrote it. */
const DRAFT = /^\.\.uscope-daemon\.(\d{1,10})\.json\.[0-9a-f]{8}\.tmp$/;

/**
 * The daemons of this user that write into a directory and live; what dead ones left is removed. A file that another user may have written names
 * an endpoint of that user's, and counts for nothing.
 * @throws what reading a directory throws
 */
export function findDaemons(
  directory: string,
  onUntrusted: (error: UscopeError) => void = () => {},
): DaemonPlace[] {
  const found: DaemonPlace[] = [];
  for (const name of readdirSync(directory)) {
    const [, writer] = DRAFT.exec(name) ?? [];
    if (writer !== undefined && processStart(Number(writer)) === null) removeStale(join(directory, name));
    if (!name.startsWith(PREFIX) || !name.endsWith(SUFFIX)) continue;
    const path = join(directory, name);
    const place = readPlace(path);
    if (isUscopeError(place)) onUntrusted(place);
    else if (place && isRunning(place)) found.push(place);
    else removeStale(path);
  }
  return found;
}

function readPlace(path: string): DaemonPlace | UscopeError | null {
  try {
    const { endpoint, pid, start, keys } = JSON.parse(readOwnFileSync(path, MAX_BYTES) ?? '');
    if (typeof endpoint !== 'string' || !Number.isSafeInteger(pid) || !/^\d+$/.test(start)) return null;
    return { endpoint, pid, start: BigInt(start), needsKeys: keys === true };
  } catch (error) {
    return isUscopeError(error) ? error : null;
  }
}

function removeStale(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Somebody else's: it is passed over.
  }
}
