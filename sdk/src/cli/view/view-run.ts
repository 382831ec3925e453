/** `uscope run --view`: the traces of a run in a browser, from its beginning until the user ends it. */
import { makeDirectories } from '../../writer/output/directories.js';
import { ioError } from '../../writer/output/output-file.js';
import { io } from '../common/io.js';
import { raised } from './announce.js';
import { startDirectoryView } from './view-directory.js';

export interface RunView {
  /** The run has ended: its traces are shown until the first signal. */
  untilEnded(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The page is up before the simulator starts, so nothing of the run is missed. stdout is the simulator's.
 * @param directory where the traces will be
 * @throws UscopeError ENV_MISSING, WRITER_DIRECTORY
 */
export async function viewRun(directory: string, wantsBrowser: boolean): Promise<RunView> {
  // The daemon comes later; a page that is open already must not find the directory missing.
  await makeDirectories(directory).catch((error: unknown) => {
    throw ioError(error, directory);
  });
  const server = await startDirectoryView(
    { directory, port: 0, wantsBrowser },
    { isStdoutTaken: true, ending: 'also when the run has ended, until Ctrl-C' },
  );
  return {
    async untilEnded() {
      const interruption = new AbortController();
      const stop = (): void => interruption.abort();
      process.on('SIGINT', stop).on('SIGTERM', stop);
      io.err('uscope: the run has ended; Ctrl-C ends the page');
      await raised(interruption.signal);
      process.off('SIGINT', stop).off('SIGTERM', stop);
    },
    close: () => server.close(),
  };
}
