/** What the forms of `uscope view` serve: a trace, which is checked before anybody opens its page, and the program that ran. */
import { openTraceFile } from '../../reader/node.js';
import { describeError, io } from '../common/io.js';
import { ServedProgram } from './server/program.js';
import { type OpenTrace, openServedTrace, type ServedTraceOptions } from './server/served-trace.js';

/**
 * The user is warned of files that get the path later and are not served.
 * @throws UscopeError READER_*, FORMAT_*
 */
export async function openToServe(file: string, options: ServedTraceOptions = {}): Promise<OpenTrace> {
  const trace = await openServedTrace(file, {
    ...options,
    onRefused: (error) => io.err(`uscope: warning: the new file is not shown: ${describeError(error)}`),
  });
  try {
    await openTraceFile({
      name: file,
      size: () => trace.size(),
      read: (offset, length) => trace.read(offset, length),
    });
    return trace;
  } catch (error) {
    await trace.close();
    throw error;
  }
}

/** @param sources directories of source files @throws UscopeError READER_OPEN, CONVERT_* */
export const openProgram = (elf: string, sources: readonly string[]): Promise<ServedProgram> =>
  ServedProgram.open(elf, {
    sources,
    onOutside: (path) =>
      io.err(
        `uscope: warning: lines of ${path} are not shown: it is not below the program's directory, the working directory or a --source DIR`,
      ),
  });
