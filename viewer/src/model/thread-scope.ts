/**
 * What the code of a thread talks through: the scope of its worker, or a port that the page has put here where workers are forbidden: then
 * the same file runs on the page's own thread.
 */
export interface ThreadScope {
  postMessage(message: unknown, transfer?: Transferable[]): void;
  onmessage: ((event: MessageEvent) => void) | null;
}

/** Name of a thread -> the port that its code takes when it starts. */
export const PORTS = 'uscopeThreadPorts';
/** The first message of a thread: its code runs. */
export const STARTED = 'started';

export function threadScope(name: string): ThreadScope {
  const ports = (globalThis as unknown as Record<string, Record<string, MessagePort> | undefined>)[PORTS];
  const scope = ports?.[name] ?? (globalThis as unknown as ThreadScope);
  scope.postMessage(STARTED);
  return scope;
}
