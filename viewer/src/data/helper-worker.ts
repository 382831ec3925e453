/** A thread that reads the trace to answer what may take long. The page ends it where it does not stop by itself. */
import { threadScope } from '../model/thread-scope.js';
import { Answerer } from './answerer.js';
import { begun, openTrace, sourceOf } from './library.js';
import type { AskMessage, HelperRequest } from './protocol.js';
import { HELPER_QUESTIONS } from './questions/helper-table.js';
import { Session } from './session.js';

const scope = threadScope('helper.js');
let answerer: Answerer | null = null;
let current: Session | null = null;

scope.onmessage = ({ data }: MessageEvent<HelperRequest | AskMessage>) => {
  if (data.type === 'open') {
    const { origin, core } = data;
    const opened = openTrace(sourceOf(origin)).then(async (trace) => {
      await begun(trace);
      const session = await Session.open(trace, origin.name, { core, clock: null });
      session.useIndex(session.ownIndex);
      current = session;
      return session;
    });
    answerer = new Answerer(opened, HELPER_QUESTIONS);
  } else void answer(data);
};

/** Of a trace that is being written, what there is now. */
async function answer(message: AskMessage): Promise<void> {
  // What is wrong with the file is what the answer says.
  if (message.type === 'ask') await current?.grow().catch(() => undefined);
  answerer?.take(message, 'page', (reply, transfer) => scope.postMessage(reply, transfer));
}
