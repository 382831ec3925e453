/** A second reader of the trace for what may take long: it can be ended, whatever it does. */

import { type Ask, Asker } from '../../data/asker.js';
import { INDEX_KERNEL } from '../../data/index-kernel.js';
import { threadProblem } from '../../data/problems.js';
import type { AskReply, OpenQuestions, TraceOrigin } from '../../data/protocol.js';
import type { Answer, Args, LongQuestions } from '../../data/questions/table.js';
import { addProblem } from '../problems.js';
import { Thread } from './thread.js';

export class QuestionThread {
  private worker: Thread | null = null;
  private asker: Asker<LongQuestions> | null = null;
  /** Until it is known whether a worker that was to stop has stopped. */
  private checking: Promise<void> = Promise.resolve();

  constructor(
    private readonly name: string,
    /** What is still busy this long after it was to stop is ended, in ms. */
    private readonly patience: number,
    private readonly trace: { readonly origin: TraceOrigin; readonly core: string | null },
  ) {}

  /** It starts with the first question. @throws AskError */
  readonly ask: Ask<LongQuestions> = async <K extends keyof LongQuestions>(
    kind: K,
    args: Args<LongQuestions[K]>,
    signal: AbortSignal | null = null,
  ): Promise<Answer<LongQuestions[K]>> => {
    await this.checking;
    const asker = this.asker ?? this.start();
    try {
      return await asker.ask(kind, args, signal);
    } catch (error) {
      if (signal?.aborted) this.checking = this.endIfBusy();
      throw error;
    }
  };

  close(): void {
    this.worker?.close();
    this.worker = null;
    this.asker = null;
  }

  private start(): Asker<LongQuestions> {
    const asker: Asker<LongQuestions> = new Asker((message) => worker.post(message));
    const take = (reply: AskReply): void => asker.take(reply);
    const worker = new Thread('questions.js', [INDEX_KERNEL], this.name, take, (what) =>
      addProblem(threadProblem(what)),
    );
    const { origin, core } = this.trace;
    worker.post({ type: 'open', origin, core } satisfies OpenQuestions);
    this.worker = worker;
    this.asker = asker;
    return asker;
  }

  /** The next question starts it again. */
  private async endIfBusy(): Promise<void> {
    const { worker, asker } = this;
    if (!worker || !asker) return;
    const late = new Promise<'late'>((resolve) => setTimeout(() => resolve('late'), this.patience));
    const answered = asker.ask('alive', null).catch(() => 'refused' as const);
    if ((await Promise.race([answered, late])) === 'late' && this.worker === worker) this.close();
  }
}
