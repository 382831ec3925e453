/** The asking side of questions to a thread that reads the trace. */
import type { AskMessage, AskReply, Problem } from './protocol.js';
import type { Answer, Args } from './questions/table.js';

/** What a question could not be answered for. */
export class AskError extends Error {
  constructor(readonly problem: Problem) {
    super(`${problem.code}: ${problem.what}`);
  }
}

/** Asks one of the questions of a table. */
export type Ask<Questions> = <K extends keyof Questions & string>(
  kind: K,
  args: Args<Questions[K]>,
  signal?: AbortSignal | null,
) => Promise<Answer<Questions[K]>>;

interface Waiting {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export class Asker<Questions> {
  private readonly waiting = new Map<number, Waiting>();
  private nextId = 0;

  constructor(private readonly post: (message: AskMessage) => void) {}

  /**
   * One question, one answer. With a signal that fires the promise rejects at once with its reason, and the thread stops.
   * @throws AskError what the reader says
   */
  readonly ask: Ask<Questions> = <K extends keyof Questions & string>(
    kind: K,
    args: Args<Questions[K]>,
    signal: AbortSignal | null = null,
  ) => {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const id = this.nextId++;
    return new Promise<Answer<Questions[K]>>((resolve, reject) => {
      const cancel = (): void => {
        this.waiting.delete(id);
        this.post({ type: 'cancel', id });
        reject(signal!.reason);
      };
      const done = (): void => signal?.removeEventListener('abort', cancel);
      signal?.addEventListener('abort', cancel, { once: true });
      this.waiting.set(id, {
        resolve: (value) => {
          done();
          resolve(value as Answer<Questions[K]>);
        },
        reject: (error) => {
          done();
          reject(error);
        },
      });
      this.post({ type: 'ask', id, kind, args });
    });
  };

  take(reply: AskReply): void {
    const waiting = this.waiting.get(reply.id);
    if (!waiting) return;
    this.waiting.delete(reply.id);
    if (reply.type === 'answer') waiting.resolve(reply.answer);
    else waiting.reject(new AskError(reply.problem));
  }
}
