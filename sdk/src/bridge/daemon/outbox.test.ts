import { describe, expect, it } from 'vitest';
import type { Router } from 'zeromq';
import { Outbox } from './outbox.js';

const TO = Buffer.from('peer');

/** A socket that remembers what it was given. */
function socket(): { readonly router: Router; readonly sent: string[] } {
  const sent: string[] = [];
  const send = async ([, bytes]: Buffer[]) => {
    sent.push(String(bytes));
  };
  return { router: { closed: false, send } as unknown as Router, sent };
}

describe('the outbox', () => {
  it.each(Array.from({ length: 12 }, (_, steps) => steps))(
    'sends a message that comes %i steps after the one before it',
    async (steps) => {
      const { router, sent } = socket();
      const outbox = new Outbox(router);
      outbox.send(TO, Buffer.from('first'));
      for (let step = 0; step < steps; step++) await null;
      outbox.send(TO, Buffer.from('second'));
      await outbox.flushed();
      expect(sent).toEqual(['first', 'second']);
    },
  );

  it('continues after a message that cannot be delivered', async () => {
    const { router, sent } = socket();
    const { send } = router;
    let refuses = true;
    router.send = async (message) => {
      if (refuses) throw new Error('unroutable');
      return send(message);
    };
    const outbox = new Outbox(router);
    outbox.send(TO, Buffer.from('lost'));
    await outbox.flushed();
    refuses = false;
    outbox.send(TO, Buffer.from('found'));
    await outbox.flushed();
    expect(sent).toEqual(['found']);
  });

  it('sends nothing through a closed socket', async () => {
    const { sent } = socket();
    const outbox = new Outbox({ closed: true } as Router);
    outbox.send(TO, Buffer.from('late'));
    await outbox.flushed();
    expect(sent).toEqual([]);
  });
});
