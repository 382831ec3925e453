import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decodeClientMessage } from './codec.js';
import type { OpenMessage } from './protocol.js';
import { checkOwner, newSessionKey } from './session-secret.js';

/** The C client encodes the same message. */
const VECTOR = new URL('../../../../test/vectors/bridge/open-generated.bin', import.meta.url);

describe('a session', () => {
  it('has an id that its secret gives', () => {
    const open = decodeClientMessage(readFileSync(VECTOR)) as OpenMessage;
    expect(newSessionKey(open.secret).session).toEqual(open.session);
    checkOwner(open, false);
    const other = { ...open, secret: newSessionKey().secret };
    for (const isPrivate of [true, false]) {
      expect(() => checkOwner(other, isPrivate)).toThrow('BRIDGE_SESSION');
    }
  });

  it('needs no secret where only the own user can connect', () => {
    const open = { t: 'open', req: 1, name: 'a', session: new Uint8Array(16), credit: 1 } as const;
    checkOwner(open, true);
    expect(() => checkOwner(open, false)).toThrow('BRIDGE_SESSION');
  });
});
