/** What an import reads: the file's declarations, then its transactions, then its relations. */
import { isUscopeError } from '../../base/errors.js';
import type { ConversionContext } from '../common/foreign-format.js';
import { FtrModel } from './model.js';
import type { FtrFile, RawChunk } from './reader.js';

/** The passes over the file, each up to the cut if there is one. */
export class FtrPasses {
  isPartial = false;
  private readonly model = new FtrModel();
  private passes = 0;

  constructor(
    private readonly file: FtrFile,
    private readonly context: ConversionContext,
  ) {}

  async declarations(): Promise<{ model: FtrModel; hasRelations: boolean; lastTick: bigint }> {
    let hasRelations = false;
    let lastTick = 0n;
    await this.pass(
      (kind) => kind === 'transactions' || kind === 'relations',
      (chunk) => {
        if (this.model.take(chunk)) return;
        if (chunk.kind === 'relations') hasRelations = true;
        else if (chunk.end !== null && chunk.end > lastTick) lastTick = chunk.end;
      },
      async () => undefined,
    );
    if (this.file.trailingBytes > 0)
      this.context.onWarning?.(
        `${this.file.trailingBytes} bytes follow the end of the recording; they are ignored`,
      );
    return { model: this.model, hasRelations, lastTick };
  }

  async transactions(take: (chunk: RawChunk) => void, after: () => Promise<void>): Promise<void> {
    await this.pass((kind) => kind !== 'transactions', take, after, 'transactions');
  }

  async relations(take: (chunk: RawChunk) => void, after: () => Promise<void>): Promise<void> {
    await this.pass((kind) => kind !== 'relations', take, after, 'relations');
  }

  private async pass(
    skip: (kind: RawChunk['kind']) => boolean,
    take: (chunk: RawChunk) => void,
    after: () => Promise<void>,
    only?: RawChunk['kind'],
  ): Promise<void> {
    const before = this.passes++ / 4;
    const { context, file } = this;
    const onPosition = (offset: number): void =>
      context.onProgress?.(before + offset / Math.max(1, file.size) / 4);
    try {
      for await (const chunk of file.chunks({ skip: ({ kind }) => skip(kind), onPosition })) {
        context.signal?.throwIfAborted();
        if (only !== undefined && chunk.kind !== only) continue;
        take(chunk);
        await after();
      }
    } catch (error) {
      if (!isCut(error)) throw error;
      if (!this.isPartial) context.onWarning?.(error instanceof Error ? error.message : String(error));
      this.isPartial = true;
    }
  }
}

export function isCut(error: unknown): boolean {
  return isUscopeError(error) && error.code === 'CONVERT_TRUNCATED';
}
