/** The traces an MCP server answers about: named on its command line, opened when first asked for, looked at again before each answer. */
import { existsSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { isUscopeError, UscopeError } from '../../../base/errors.js';
import { httpVersion, isHttpUrl, type Trace } from '../../../reader/index.js';
import { openTraceFile } from '../../../reader/node.js';
import { withForeignHint } from '../../common/foreign-hint.js';
import { shownName } from '../../common/trace-file.js';

export interface NamedFile {
  /** What tools call it. */
  readonly name: string;
  /** Path or URL. */
  readonly file: string;
}

/** Traces kept open between calls. */
const MAX_OPEN = 8;
/** Decompressed segments each of them keeps. */
const CACHE_BYTES = 32 * 1024 * 1024;

/**
 * Names for the arguments of the command line: `NAME=FILE`, or a name made of the file's own: `core0` for `run/core0.uscope`, with its folder where
 * two would be the same.
 * @throws UscopeError CLI_USAGE for a name given twice
 */
export function nameFiles(args: readonly string[]): NamedFile[] {
  const given = args.map(splitName);
  const names = new Set<string>();
  return given.map(({ name, file }) => {
    if (name !== null && names.has(name)) {
      throw new UscopeError('CLI_USAGE', `two files are to be called "${name}"; give each its own name`);
    }
    const own = name ?? free(file, names);
    names.add(own);
    return { name: own, file };
  });
}

function splitName(argument: string): { name: string | null; file: string } {
  const match = /^([\w.-]+)=(.+)$/s.exec(argument);
  return match && !existsSync(argument) ? { name: match[1], file: match[2] } : { name: null, file: argument };
}

function free(file: string, taken: ReadonlySet<string>): string {
  const path = isHttpUrl(file) && URL.canParse(file) ? decodeURI(new URL(file).pathname) : file;
  const own = basename(path).replace(/\.uscope$/, '') || 'trace';
  const folder = basename(dirname(path));
  const candidates = folder && folder !== '.' ? [own, `${folder}/${own}`] : [own];
  const found = candidates.find((name) => !taken.has(name));
  if (found) return found;
  let number = 2;
  while (taken.has(`${own}-${number}`)) number++;
  return `${own}-${number}`;
}

interface OpenTrace {
  readonly trace: Trace;
  /** What distinguishes one version of the file from another. */
  identity: string | null;
}

/** One call after the other: a trace may be opened anew between two of them. */
export class TraceFiles {
  /** In the order of their last use. */
  private readonly open = new Map<string, OpenTrace>();

  constructor(readonly files: readonly NamedFile[]) {}

  /**
   * The file of a name; without a name the only one.
   * @throws UscopeError READER_NAME
   */
  find(name: string | undefined): NamedFile {
    const [first] = this.files;
    if (name === undefined && first && this.files.length === 1) return first;
    const found = this.files.find((file) => file.name === name);
    if (found) return found;
    const known = this.files.map((file) => file.name).join(', ');
    throw new UscopeError(
      'READER_NAME',
      name === undefined
        ? `there are several files; name one of them: ${known}`
        : `there is no file "${name}"; there are: ${known}`,
    );
  }

  /** Runs `action` on a trace as it is now: one being written has been followed, one replaced by another opened anew. */
  async use<T>(name: string | undefined, action: (trace: Trace, file: NamedFile) => Promise<T>): Promise<T> {
    const file = this.find(name);
    try {
      const known = await this.current(file);
      try {
        return await action(known ?? (await this.openNow(file)), file);
      } catch (error) {
        if (!known || !isUscopeError(error) || error.code !== 'READER_CHANGED') throw error;
        await this.forget(file.name);
        return await action(await this.openNow(file), file);
      }
    } catch (error) {
      throw isUscopeError(error) ? await withForeignHint(error.at({ file: shownName(file.file) })) : error;
    }
  }

  async close(): Promise<void> {
    for (const name of [...this.open.keys()]) await this.forget(name);
  }

  /** The trace if it is open and still the one in the file. */
  private async current({ name, file }: NamedFile): Promise<Trace | null> {
    const known = this.open.get(name);
    if (!known) return null;
    this.open.delete(name);
    this.open.set(name, known);
    if (await isCurrent(known, file)) return known.trace;
    await this.forget(name);
    return null;
  }

  private async openNow({ name, file }: NamedFile): Promise<Trace> {
    const identity = await identityOf(file);
    const trace = await openTraceFile(file, { cacheBytes: CACHE_BYTES });
    this.open.set(name, { trace, identity });
    for (const oldest of [...this.open.keys()].slice(0, -MAX_OPEN)) await this.forget(oldest);
    return trace;
  }

  private async forget(name: string): Promise<void> {
    const known = this.open.get(name);
    this.open.delete(name);
    await known?.trace.close();
  }
}

async function isCurrent(known: OpenTrace, file: string): Promise<boolean> {
  const { trace } = known;
  const identity = await identityOf(file);
  if (trace.isComplete) return identity === known.identity;
  // The file opened may continue under another name, or nowhere.
  if (!isHttpUrl(file) && inodeOf(identity) !== inodeOf(known.identity)) return false;
  try {
    await trace.poll();
  } catch (error) {
    if (isUscopeError(error) && error.code === 'READER_CHANGED') return false;
    throw error;
  }
  known.identity = await identityOf(file);
  return true;
}

/** `INODE:SIZE:TIME` of a file, null where there is none now; of a URL what the server says. */
async function identityOf(file: string): Promise<string | null> {
  if (isHttpUrl(file)) return httpVersion(file);
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat ? `${stat.ino}:${stat.size}:${stat.mtimeMs}` : null;
}

function inodeOf(identity: string | null): string | undefined {
  return identity?.split(':')[0];
}
