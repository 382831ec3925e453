/** Opens the trace a verb is about, names it in errors, and says what the reader found odd. */
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { isHttpUrl } from '../../reader/http-url.js';
import type { Source, Trace } from '../../reader/index.js';
import { openSource, openTraceFile } from '../../reader/node.js';
import { io } from './io.js';

/** What messages call a file: a path as it is, a URL without credentials. */
export function shownName(file: string): string {
  if (!isHttpUrl(file) || !URL.canParse(file)) return file;
  const url = new URL(file);
  url.username = '';
  url.password = '';
  return url.href;
}

/**
 * Runs `use` on the trace at a path or URL and closes it. Errors get its name, warnings go to stderr once.
 * @param source the trace's bytes, where somebody has opened them already; closed with the trace
 */
export async function withTrace<T>(
  path: string,
  use: (trace: Trace) => Promise<T>,
  source?: Source,
): Promise<T> {
  try {
    const trace = await openTraceFile(source ?? (await openSource(path, { blocking: true })), {
      onWarning: ({ message }) => io.err(`uscope: warning: ${message} (${shownName(path)})`),
    });
    try {
      return await use(trace);
    } finally {
      await trace.close();
    }
  } catch (error) {
    throw isUscopeError(error) && error.code !== 'CLI_USAGE' ? error.at({ file: shownName(path) }) : error;
  }
}

/** The traces of a directory, those of directories below it too. @throws UscopeError READER_OPEN for none */
export async function tracesOf(path: string): Promise<string[]> {
  if (isHttpUrl(path)) return [path];
  const there = await stat(path).catch(() => null);
  if (!there?.isDirectory()) return [path];
  const names = await readdir(path, { recursive: true });
  const traces = names.filter((name) => name.endsWith('.uscope') && !basename(name).startsWith('.')).sort();
  if (traces.length > 0) return traces.map((name) => join(path, name));
  throw new UscopeError('READER_OPEN', 'there is no trace (*.uscope) in this directory', { file: path });
}
