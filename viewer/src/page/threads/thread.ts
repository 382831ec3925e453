/**
 * A thread of the page: a worker, or where the browser refuses one (a policy that forbids workers, a page opened from a disk) the same code
 * on the main thread, in a script. What is posted before that is decided waits.
 */
import { PORTS, STARTED } from '../../model/thread-scope.js';
import { isSlow } from './slowness.js';

interface Waiting {
  readonly message: unknown;
  readonly transfer: Transferable[];
}

export class Thread {
  private waiting: Waiting[] | null = [];
  private target: Worker | MessagePort | null = null;
  private scripts: readonly HTMLScriptElement[] = [];

  /**
   * @param file with the code, beside the page
   * @param later scripts that the code loads when it needs them; on the page's own thread it could not wait for them, so that they come first
   * @param take messages of the thread
   * @param fail neither way works, or an error that the code did not catch
   */
  constructor(
    private readonly file: string,
    private readonly later: readonly string[],
    private readonly name: string,
    private readonly take: (message: never) => void,
    private readonly fail: (what: string) => void,
  ) {
    try {
      this.startWorker();
    } catch {
      this.startHere();
    }
  }

  post(message: unknown, transfer: Transferable[] = []): void {
    if (this.waiting) this.waiting.push({ message, transfer });
    else this.target?.postMessage(message, transfer);
  }

  close(): void {
    this.waiting = null;
    if (this.target instanceof MessagePort) this.target.close();
    else this.target?.terminate();
    this.target = null;
    for (const script of this.scripts) script.remove();
  }

  private startWorker(): void {
    const worker = new Worker(new URL(this.file, document.baseURI), { name: this.name });
    this.target = worker;
    worker.onmessage = ({ data }: MessageEvent) => this.hear(data);
    worker.onerror = (event) => {
      if (!this.waiting) return this.fail(event.message || `${this.file} failed`);
      worker.terminate();
      this.startHere();
    };
  }

  private startHere(): void {
    isSlow.value = true;
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }: MessageEvent) => this.hear(data);
    this.target = port1;
    const known = window as unknown as Record<string, Record<string, MessagePort[]> | undefined>;
    const ports = known[PORTS] ?? {};
    known[PORTS] = { ...ports, [this.file]: [...(ports[this.file] ?? []), port2] };
    this.scripts = [...this.later, this.file].map((file) => this.scriptOf(file));
    this.scripts.at(-1)!.onload = () => this.deliver();
    document.head.append(...this.scripts);
  }

  private scriptOf(file: string): HTMLScriptElement {
    const script = document.createElement('script');
    script.src = new URL(file, document.baseURI).href;
    // Scripts run in the order of the page, not in the order in which they come.
    script.async = false;
    script.onerror = () => this.fail(`${file} could not be loaded`);
    return script;
  }

  private hear(data: unknown): void {
    if (data !== STARTED) {
      this.take(data as never);
      return;
    }
    if (this.target instanceof Worker) this.deliver();
  }

  private deliver(): void {
    const { waiting } = this;
    this.waiting = null;
    for (const { message, transfer } of waiting ?? []) this.target?.postMessage(message, transfer);
  }
}
