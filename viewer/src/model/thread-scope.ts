/**
 * What the code of a thread talks through: the scope of its worker, or a port that the page has put here where workers are forbidden: then
 * the same file runs on the page's own thread.
 */
interface ThreadScope {
  postMessage(message: unknown, transfer?: Transferable[]): void;
  onmessage: ((event: MessageEvent) => void) | null;
}

/** File of a thread -> ports, of which its code takes the first one when it starts. */
export const PORTS = 'uscopeThreadPorts';
/** The first message of a thread: its code runs. */
export const STARTED = 'started';

/** @param file in which the code is */
export function threadScope(file: string): ThreadScope {
  const ports = (globalThis as unknown as Record<string, Record<string, MessagePort[]> | undefined>)[PORTS];
  const scope = ports?.[file]?.shift() ?? (globalThis as unknown as ThreadScope);
  scope.postMessage(STARTED);
  return scope;
}
