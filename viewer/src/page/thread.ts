/**
 * A thread of the page: a worker, or where the browser refuses one (a policy that forbids workers, a page opened from a disk) the same code
 * on the main thread, in a script. What is posted before that is decided waits.
 */
import { PORTS, STARTED } from '../model/thread-scope.js';
import { isSlow } from './slowness.js';

/** What workers load in the middle of something, when they need it: loaded with their code where that runs in the page, which cannot do that. */
const OF_READER = ['index-kernel.js'];
const LOADED_WITH: Readonly<Record<string, readonly string[]>> = {
  'data.js': [...OF_READER, 'index_making.js', 'index_questions.js'],
  'drawing.js': ['forms.js'],
};

interface Waiting {
  readonly message: unknown;
  readonly transfer: Transferable[];
}

export class Thread {
  private waiting: Waiting[] | null = [];
  private target: Worker | MessagePort | null = null;
  private readonly scripts: HTMLScriptElement[] = [];

  /**
   * @param file with the code, beside the page
   * @param take messages of the thread
   * @param fail neither way works, or an error that the code did not catch
   */
  constructor(
    private readonly file: string,
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
    this.loadAll([this.file, ...(LOADED_WITH[this.file] ?? OF_READER)]);
  }

  /** In this order: parts take from the first what they need. What it is sent waits for all. */
  private loadAll([file, ...others]: readonly string[]): void {
    if (file === undefined) {
      this.deliver();
      return;
    }
    const script = document.createElement('script');
    script.src = new URL(file, document.baseURI).href;
    script.onload = () => this.loadAll(others);
    script.onerror = () => this.fail(`${file} could not be loaded`);
    this.scripts.push(script);
    document.head.append(script);
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
