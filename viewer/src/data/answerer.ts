/** The answering side: questions of the page, each by itself, so that a long one does not hold up the others. */
import { describeProblem } from './problems.js';
import type { AskMessage, AskReply } from './protocol.js';
import type { Question, QuestionContext } from './questions/question.js';

type Reply = (message: AskReply, transfer: Transferable[]) => void;

export class Answerer {
  private readonly open = new Map<number, AbortController>();

  /** @param context rejects when the trace cannot be opened */
  constructor(
    private readonly context: Promise<QuestionContext>,
    private readonly questions: Readonly<Record<string, unknown>>,
  ) {
    context.catch(() => undefined);
  }

  take(message: AskMessage, reply: Reply): void {
    const { id } = message;
    if (message.type === 'cancel') {
      this.open.get(id)?.abort();
      return;
    }
    const controller = new AbortController();
    this.open.set(id, controller);
    void this.answer(message, controller.signal, reply).finally(() => this.open.delete(id));
  }

  private async answer(
    { id, kind, args }: AskMessage & { type: 'ask' },
    signal: AbortSignal,
    reply: Reply,
  ): Promise<void> {
    try {
      const question = this.questions[kind] as Question<unknown, unknown>;
      const answer = await question(args, await this.context, signal);
      if (!signal.aborted) reply({ type: 'answer', id, answer }, buffersOf(answer));
    } catch (error) {
      if (!signal.aborted) reply({ type: 'refused', id, problem: describeProblem(error) }, []);
    }
  }
}

/** Longer lists hold plain values, or are copied. */
const MAX_LIST = 1000;
const MAX_DEPTH = 5;

/** The memory of all typed arrays in an answer: it is transferred instead of copied. */
function buffersOf(value: unknown): ArrayBuffer[] {
  const found = new Set<ArrayBuffer>();
  const visit = (one: unknown, depth: number): void => {
    if (typeof one !== 'object' || one === null || depth > MAX_DEPTH) return;
    if (ArrayBuffer.isView(one)) {
      if (one.buffer instanceof ArrayBuffer) found.add(one.buffer);
      return;
    }
    const parts = Array.isArray(one) ? (one.length > MAX_LIST ? [] : one) : Object.values(one);
    for (const part of parts) visit(part, depth + 1);
  };
  visit(value, 0);
  return [...found];
}
