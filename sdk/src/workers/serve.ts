/** The thread's side: opens the trace, and answers requests about it, several at a time. */
import type { Trace } from '../reader/index.js';
import {
  type FromThread,
  type RequestMessage,
  sendError,
  type ThreadOpenOptions,
  type ToThread,
  type TraceLocation,
} from './messages.js';
import { buffersIn, extentOf, REQUESTS, type RequestCall, type RequestKind } from './requests.js';
import type { Movable, PoolPort } from './thread.js';

/** Work continues for this time before messages are let in. */
const SLICE_MS = 8;

export type OpenInThread = (
  location: TraceLocation,
  options: ThreadOpenOptions & { readonly onWarning: (warning: Trace['warnings'][number]) => void },
) => Promise<Trace>;

interface Running {
  readonly priority: number;
  readonly controller: AbortController;
}

/** Serves one pool for as long as the thread lives. */
export function serve(port: PoolPort, open: OpenInThread): void {
  const server = new ThreadServer(port, open);
  port.onMessage((message) => server.receive(message as ToThread));
}

class ThreadServer {
  private trace: Promise<Trace> | null = null;
  private readonly running = new Map<number, Running>();
  /** Who waits until a request of higher priority is over. */
  private waiting: (() => void)[] = [];

  constructor(
    private readonly port: PoolPort,
    private readonly open: OpenInThread,
  ) {}

  receive(message: ToThread): void {
    if (message.type === 'open') void this.begin(message.location, message.options);
    else if (message.type === 'cancel') this.running.get(message.id)?.controller.abort(new Cancelled());
    else void this.answer(message);
  }

  private async begin(location: TraceLocation, options: ThreadOpenOptions): Promise<void> {
    const onWarning = (warning: Trace['warnings'][number]): void => this.send({ type: 'warning', warning });
    this.trace = this.open(location, { ...options, onWarning });
    try {
      const { segments, isComplete } = extentOf(await this.trace);
      this.send({ type: 'opened', known: { segments, isComplete } });
    } catch (error) {
      this.send({ type: 'failed', error: sendError(error) });
    }
  }

  private async answer({ id, kind, params, priority, known }: RequestMessage): Promise<void> {
    const controller = new AbortController();
    this.running.set(id, { priority, controller });
    try {
      const trace = await this.trace;
      if (!trace) throw new Error('the thread has no trace');
      const extent = extentOf(trace);
      if (extent.segments < known.segments || (known.isComplete && !extent.isComplete)) await trace.poll();
      const handle = REQUESTS[kind as RequestKind] as (
        trace: Trace,
        params: unknown,
        call: RequestCall,
      ) => Promise<unknown>;
      const value = await handle(trace, params, this.callOf(id, priority, controller.signal));
      controller.signal.throwIfAborted();
      const buffers = [...buffersIn(value)];
      const bytes = buffers.reduce((sum, { byteLength }) => sum + byteLength, 0);
      this.send({ type: 'answer', id, value, bytes }, buffers);
    } catch (error) {
      this.send({ type: 'error', id, error: sendError(error) });
    } finally {
      this.running.delete(id);
      const waiting = this.waiting;
      this.waiting = [];
      for (const resume of waiting) resume();
    }
  }

  private callOf(id: number, priority: number, signal: AbortSignal): RequestCall {
    let sliceEnd = performance.now() + SLICE_MS;
    return {
      signal,
      progress: (fraction) => this.send({ type: 'progress', id, fraction }),
      pause: async () => {
        signal.throwIfAborted();
        if (performance.now() < sliceEnd) return;
        await messagesIn();
        while (!signal.aborted && this.hasAbove(priority)) await this.someoneEnds(signal);
        signal.throwIfAborted();
        sliceEnd = performance.now() + SLICE_MS;
      },
    };
  }

  private hasAbove(priority: number): boolean {
    for (const other of this.running.values()) if (other.priority > priority) return true;
    return false;
  }

  private someoneEnds(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  private send(message: FromThread, move: readonly Movable[] = []): void {
    this.port.post(message, move);
  }
}

class Cancelled extends Error {
  constructor() {
    super('the request was cancelled');
  }
}

let turns: InstanceType<typeof MessageChannel> | null = null;
const awaited: (() => void)[] = [];

/** Until the messages that have come by now are seen: they are tasks, which promises do not let in. */
function messagesIn(): Promise<void> {
  if (!turns) {
    turns = new MessageChannel();
    (turns.port1 as unknown as { onmessage: (() => void) | null }).onmessage = () => awaited.shift()?.();
  }
  const { port2 } = turns;
  return new Promise((resolve) => {
    awaited.push(resolve);
    port2.postMessage(null);
  });
}
