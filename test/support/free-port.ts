/** Ports for programs that have to know theirs before they listen. */
import { createServer } from 'node:net';

/** Below those that Linux gives to programs that connect (32768 and above): no connection takes one before the program does. */
const [FIRST, COUNT] = [20_000, 12_000];
/** Each process of the tests begins elsewhere. */
let next = (process.pid * 97) % COUNT;

/** A port of 127.0.0.1 on which nobody listens. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < COUNT; tries++) {
    next = (next + 1) % COUNT;
    if (await isFree(FIRST + next)) return FIRST + next;
  }
  throw new Error('no port is free');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
