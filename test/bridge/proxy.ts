/** A bad network between a client and the daemon: a TCP proxy that can be cut, stalled, slowed, or made to garble. */

import type { AddressInfo } from 'node:net';
import { createServer, connect as dial, type Server, type Socket } from 'node:net';

interface Pair {
  readonly client: Socket;
  readonly daemon: Socket;
}

export class BadNetwork {
  /** @param endpoint tcp://127.0.0.1:PORT of the daemon */
  static async before(endpoint: string): Promise<BadNetwork> {
    const network = new BadNetwork(Number(endpoint.split(':').pop()));
    await new Promise<void>((resolve) => network.server.listen(0, '127.0.0.1', resolve));
    return network;
  }

  /** Connections so far. */
  connections = 0;
  /** Bytes a second towards the daemon; 0: no limit. */
  bytesPerSecond = 0;
  /** What becomes of bytes on their way to the daemon. */
  garble: (bytes: Buffer) => Buffer = (bytes) => bytes;

  private readonly server: Server = createServer((client) => this.join(client));
  private readonly pairs = new Set<Pair>();
  private isStalled = false;

  private constructor(private port: number) {}

  get endpoint(): string {
    return `tcp://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** A daemon somewhere else takes the place of the first. */
  leadTo(endpoint: string): void {
    this.port = Number(endpoint.split(':').pop());
  }

  /** All connections break; new ones are let through. */
  cut(): void {
    for (const { client, daemon } of this.pairs) {
      client.resetAndDestroy();
      daemon.resetAndDestroy();
    }
  }

  /** Nothing moves in either direction, without notice to either side. */
  stall(): void {
    this.isStalled = true;
    for (const { client, daemon } of this.pairs) {
      client.pause();
      daemon.pause();
    }
  }

  flow(): void {
    this.isStalled = false;
    for (const { client, daemon } of this.pairs) {
      client.resume();
      daemon.resume();
    }
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private join(client: Socket): void {
    this.connections++;
    const daemon = dial(this.port, '127.0.0.1');
    const pair = { client, daemon };
    this.pairs.add(pair);
    const part = (): void => {
      this.pairs.delete(pair);
      client.destroy();
      daemon.destroy();
    };
    for (const socket of [client, daemon]) socket.on('error', part).on('close', part);
    client.on('data', (bytes) => this.forward(bytes, client, daemon));
    daemon.on('data', (bytes) => client.writable && client.write(bytes));
    if (this.isStalled) this.stall();
  }

  private forward(bytes: Buffer, client: Socket, daemon: Socket): void {
    if (daemon.writable) daemon.write(this.garble(bytes));
    if (this.bytesPerSecond === 0) return;
    client.pause();
    const wait = (bytes.length / this.bytesPerSecond) * 1000;
    setTimeout(() => this.isStalled || client.resume(), wait);
  }
}
