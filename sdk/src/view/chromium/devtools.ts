/** Talks to a browser over two pipes, by the DevTools protocol: a JSON text and a zero byte for each message. No port is opened. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** Of one message; a picture of 8K pixels has 40 MB as base64. */
const MAX_MESSAGE = 256 * 1024 * 1024;

interface Waiting {
  resolve(result: Record<string, unknown>): void;
  reject(error: Error): void;
}

export class DevTools {
  private readonly waiting = new Map<number, Waiting>();
  private nextId = 1;
  private parts: Buffer[] = [];
  private length = 0;
  private failure: Error | null = null;

  private constructor(
    private readonly browser: ChildProcess,
    private readonly input: Writable,
    output: Readable,
    private readonly complaints: string[],
  ) {
    output.on('data', (part: Buffer) => this.take(part));
    const gone = (): void => this.fail(new Error(this.reason()));
    input.on('error', gone);
    browser.once('error', (error) => this.fail(error));
    browser.once('exit', gone);
  }

  static start(path: string, args: readonly string[]): DevTools {
    const browser = spawn(path, [...args, '--remote-debugging-pipe'], {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    });
    const complaints: string[] = [];
    browser.stderr!.setEncoding('utf8').on('data', (text: string) => {
      complaints.push(text);
      if (complaints.length > 20) complaints.shift();
    });
    return new DevTools(
      browser,
      browser.stdio[3] as Writable,
      browser.stdio[4] as unknown as Readable,
      complaints,
    );
  }

  /** 0: it could not be started. */
  get pid(): number {
    return this.browser.pid ?? 0;
  }

  /** @throws Error what the browser answers, or that it is gone */
  call(method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> {
    if (this.failure) return Promise.reject(this.failure);
    const id = this.nextId++;
    const text = JSON.stringify({ id, method, params, ...(sessionId ? { sessionId } : {}) });
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.input.write(`${text}\0`);
    });
  }

  /** Ends the browser. */
  async close(): Promise<void> {
    const { browser } = this;
    if (browser.exitCode !== null || browser.signalCode !== null || browser.pid === undefined) return;
    const gone = new Promise<void>((resolve) => browser.once('exit', () => resolve()));
    const kill = setTimeout(() => browser.kill('SIGKILL'), 3000);
    this.call('Browser.close').catch(() => undefined);
    await gone;
    clearTimeout(kill);
  }

  private take(part: Buffer): void {
    let rest = part;
    for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
      this.parts.push(rest.subarray(0, end));
      this.answer(Buffer.concat(this.parts).toString('utf8'));
      this.parts = [];
      this.length = 0;
      rest = rest.subarray(end + 1);
    }
    this.length += rest.length;
    if (this.length > MAX_MESSAGE) this.fail(new Error('the browser sends a message that has no end'));
    else this.parts.push(rest);
  }

  private answer(text: string): void {
    const { id, result, error } = JSON.parse(text) as {
      id?: number;
      result?: Record<string, unknown>;
      error?: { message?: string };
    };
    const waiting = id === undefined ? undefined : this.waiting.get(id);
    if (!waiting) return;
    this.waiting.delete(id!);
    if (error) waiting.reject(new Error(error.message ?? 'the browser refused'));
    else waiting.resolve(result ?? {});
  }

  private fail(error: Error): void {
    this.failure ??= error;
    for (const { reject } of this.waiting.values()) reject(this.failure);
    this.waiting.clear();
  }

  private reason(): string {
    const last = this.complaints
      .join('')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .at(-1);
    return `the browser ended${last ? `: ${last.slice(0, 300)}` : ''}`;
  }
}
