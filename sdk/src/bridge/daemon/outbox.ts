/** Messages on their way out of the daemon's socket, which takes one at a time. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Router } from 'zeromq';

const DELIVERY_MS = 100;

export class Outbox {
  private readonly waiting: [routingId: Buffer, bytes: Uint8Array][] = [];
  private lastSent = Number.NEGATIVE_INFINITY;
  private isSending = false;
  private sending: Promise<void> = Promise.resolve();

  constructor(private readonly router: Router) {}

  /** What cannot be delivered, because the client is gone, is dropped: the client asks again when it returns. */
  send(routingId: Buffer, bytes: Uint8Array): void {
    this.waiting.push([routingId, bytes]);
    if (!this.isSending) this.sending = this.drain();
  }

  /** Resolves when everything has had the time to leave: a socket that is closed may forget what it was given, linger or not. */
  async flushed(): Promise<void> {
    while (this.isSending) await this.sending;
    const wait = this.lastSent + DELIVERY_MS - performance.now();
    if (wait > 0) await delay(wait);
  }

  private async drain(): Promise<void> {
    this.isSending = true;
    for (let message = this.waiting.shift(); message; message = this.waiting.shift()) {
      if (this.router.closed) continue;
      this.lastSent = performance.now();
      try {
        await this.router.send([message[0], Buffer.from(message[1])]);
      } catch {
        // Unroutable, or closed meanwhile: see `send`.
      }
    }
    // At once, not when the promise is settled: a message that came between would wait for the next one.
    this.isSending = false;
  }
}
