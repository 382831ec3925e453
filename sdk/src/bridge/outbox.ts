/** Messages on their way out of the daemon's socket, which takes one at a time. */
import type { Router } from 'zeromq';

export class Outbox {
  private readonly waiting: [routingId: Buffer, bytes: Uint8Array][] = [];
  private sending = false;

  constructor(private readonly router: Router) {}

  /** What cannot be delivered, because the client is gone, is dropped: the client asks again when it returns. */
  send(routingId: Buffer, bytes: Uint8Array): void {
    this.waiting.push([routingId, bytes]);
    if (!this.sending) void this.drain();
  }

  private async drain(): Promise<void> {
    this.sending = true;
    for (let message = this.waiting.shift(); message; message = this.waiting.shift()) {
      if (this.router.closed) continue;
      try {
        await this.router.send([message[0], Buffer.from(message[1])]);
      } catch {
        // Unroutable, or closed meanwhile: see `send`.
      }
    }
    this.sending = false;
  }
}
