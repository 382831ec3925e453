/** A recording as an FTR file. */
import { type FtrAttribute, type FtrOutput, FtrWriter, type FtrWriterOptions } from '../formats/ftr/index.js';
import type { RecordedAttribute, RecordingBackend, TxFiber, TxGenerator, TxHandle } from './frontend.js';

/** Memory is that of the transactions that have begun and not ended. */
export class FtrBackend implements RecordingBackend {
  private readonly writer: FtrWriter;
  private readonly inFlight = new Map<TxHandle, FtrAttribute[]>();

  constructor(output: FtrOutput, options: FtrWriterOptions = {}) {
    this.writer = new FtrWriter(output, { epoch: BigInt(Math.floor(Date.now() / 1000)), ...options });
  }

  get isFull(): boolean {
    return this.writer.isFull;
  }

  fiber({ id, name, kind }: TxFiber): void {
    this.writer.stream(id, name, kind);
  }

  generator({ id, name, fiber }: TxGenerator): void {
    this.writer.generator(id, name, fiber.id);
  }

  begin(transaction: TxHandle, attributes: readonly RecordedAttribute[]): void {
    this.inFlight.set(transaction, [...attributes]);
  }

  attribute(transaction: TxHandle, attribute: RecordedAttribute): void {
    this.inFlight.get(transaction)?.push(attribute);
  }

  end(transaction: TxHandle, attributes: readonly RecordedAttribute[]): void {
    const all = this.inFlight.get(transaction) ?? [];
    this.inFlight.delete(transaction);
    this.write(transaction, [...all, ...attributes]);
  }

  relation(name: string, source: TxHandle, sink: TxHandle): void {
    const [sourceStream, sinkStream] = [source.fiber.id, sink.fiber.id];
    this.writer.relation({ name, source: source.id, sink: sink.id, sourceStream, sinkStream });
  }

  async flush(): Promise<void> {
    await this.writer.flush();
  }

  /** What has not ended is written as if it ended where it began. */
  async close(): Promise<void> {
    for (const [transaction, attributes] of this.inFlight) this.write(transaction, attributes);
    this.inFlight.clear();
    await this.writer.close();
  }

  private write(
    { id, fiber, generator, startPs, endPs }: TxHandle,
    attributes: readonly FtrAttribute[],
  ): void {
    this.writer.transaction({
      id,
      stream: fiber.id,
      generator: generator.id,
      start: startPs,
      end: endPs ?? startPs,
      attributes,
    });
  }
}
