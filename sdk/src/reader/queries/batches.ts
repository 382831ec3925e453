/** A scan, which calls back, as a stream of what the callbacks keep: one batch per segment, so that memory is bounded by a segment. */
import type { ScanVisitor } from '../scan.js';
import type { LoadedSegment } from '../segment-loader.js';
import type { Trace } from '../trace.js';
import type { TimeRange } from '../walker.js';

/** Callbacks of a scan; what they hand to `keep` is streamed. */
export type BatchVisitor<T> = (keep: (item: T) => void) => Omit<ScanVisitor, 'segment'> & {
  segment?(segment: LoadedSegment): unknown;
};

/**
 * Scans a range and yields what the visitor keeps, in order. The scan waits while a batch is used; leaving the loop early ends it.
 * @throws UscopeError as `Trace.scan`, after everything before the damage has been handed out
 */
export async function* scanBatches<T>(
  trace: Trace,
  range: TimeRange,
  visitorOf: BatchVisitor<T>,
): AsyncGenerator<T[]> {
  const exchange = new Exchange<T>();
  const visitor = visitorOf((item) => exchange.batch.push(item));
  const scan = trace
    .scan(range, {
      ...visitor,
      segment: async (segment) => {
        if (!(await exchange.handOver())) return false;
        return visitor.segment?.(segment);
      },
    })
    .then(
      () => exchange.end(null),
      (error: unknown) => exchange.end({ error }),
    );
  try {
    for (;;) {
      const batch = await exchange.take();
      if (!batch) return;
      if (batch.length > 0) yield batch;
    }
  } finally {
    exchange.abandon();
    await scan;
  }
}

/** The meeting point of scan and reader: at any time one of them runs. */
class Exchange<T> {
  batch: T[] = [];
  private failure: { readonly error: unknown } | null = null;
  private isEnded = false;
  private isAbandoned = false;
  private wakeScan: (() => void) | null = null;
  private wakeReader: (() => void) | null = null;

  /** The scan offers what it has and waits until it has been used; false: nobody wants more. */
  async handOver(): Promise<boolean> {
    if (this.isAbandoned) return false;
    await new Promise<void>((resolve) => {
      this.wakeScan = resolve;
      this.wakeReader?.();
    });
    return !this.isAbandoned;
  }

  end(failure: { readonly error: unknown } | null): void {
    this.isEnded = true;
    this.failure = failure;
    this.wakeReader?.();
  }

  /** The next batch; null at the end. Lets the scan continue first. */
  async take(): Promise<T[] | null> {
    if (this.isEnded && this.batch.length === 0) return this.finish();
    if (!this.isEnded) {
      await new Promise<void>((resolve) => {
        this.wakeReader = resolve;
        this.resumeScan();
      });
    }
    const batch = this.batch;
    this.batch = [];
    return batch.length === 0 && this.isEnded ? this.finish() : batch;
  }

  abandon(): void {
    this.isAbandoned = true;
    this.resumeScan();
  }

  private resumeScan(): void {
    const wake = this.wakeScan;
    this.wakeScan = null;
    wake?.();
  }

  private finish(): null {
    const { failure } = this;
    this.failure = null;
    if (failure) throw failure.error;
    return null;
  }
}
