/** The file by which `uscope ctl` finds the daemon that writes into a directory. */
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE_MODE } from '../../base/file-mode.js';
import { makeDirectories } from '../../writer/output/directories.js';
import { isRunning, processStart } from '../wire/client-process.js';

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
  const temporary = `${path}.new`;
  try {
    await makeDirectories(directory);
    findDaemons(directory);
    writeFileSync(temporary, `${text}\n`, { mode: PRIVATE_MODE });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    onTrouble(`\`uscope ctl\` will not find this daemon by its directory: ${(error as Error).message}`);
  }
  return () => rmSync(path, { force: true });
}

/** The daemons that write into a directory and live; the files of others are removed. @throws what reading a directory throws */
export function findDaemons(directory: string): DaemonPlace[] {
  const found: DaemonPlace[] = [];
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(PREFIX) || !name.endsWith(SUFFIX)) continue;
    const path = join(directory, name);
    const place = readPlace(path);
    if (place && isRunning(place)) found.push(place);
    else removeStale(path);
  }
  return found;
}

function readPlace(path: string): DaemonPlace | null {
  try {
    const { endpoint, pid, start, keys } = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof endpoint !== 'string' || !Number.isSafeInteger(pid) || !/^\d+$/.test(start)) return null;
    return { endpoint, pid, start: BigInt(start), needsKeys: keys === true };
  } catch {
    return null;
  }
}

function removeStale(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Somebody else's: it is passed over.
  }
}
