/** What an import reads: the file's declarations, then its transactions, then its relations. */
import { isUscopeError } from '../../base/errors.js';
import type { ConversionContext } from '../common/foreign-format.js';
import { relationEntries } from './content.js';
import { FtrModel } from './model.js';
import type { FtrFile, RawChunk } from './reader.js';

export interface FtrDeclarations {
  readonly model: FtrModel;
  readonly hasRelations: boolean;
  readonly lastTick: bigint;
  /** No chunk is compressed. */
  readonly isPlain: boolean;
  /** The relations are those of old files: three elements, without streams. */
  readonly areRelationsShort: boolean;
}

/** The passes over the file, each up to the cut if there is one. */
export class FtrPasses {
  isPartial = false;
  private readonly model = new FtrModel();
  private passes = 0;

  constructor(
    private readonly file: FtrFile,
    private readonly context: ConversionContext,
  ) {}

  async declarations(): Promise<FtrDeclarations> {
    let hasRelations = false;
    let lastTick = 0n;
    let isCompressed = false;
    let hasChunks = false;
    let areRelationsShort = false;
    await this.pass(
      // The first chunk of relations says of which form they are.
      (kind) => kind === 'transactions' || (kind === 'relations' && hasRelations),
      (chunk) => {
        if (chunk.kind !== 'info') {
          hasChunks = true;
          isCompressed ||= chunk.isCompressed;
        }
        if (this.model.take(chunk)) return;
        if (chunk.kind === 'relations') {
          if (!hasRelations) areRelationsShort = isShort(chunk);
          hasRelations = true;
        } else if (chunk.end !== null && chunk.end > lastTick) lastTick = chunk.end;
      },
      async () => undefined,
    );
    if (this.file.trailingBytes > 0)
      this.context.onWarning?.(
        `${this.file.trailingBytes} bytes follow the end of the recording; they are ignored`,
      );
    const isPlain = hasChunks && !isCompressed;
    return { model: this.model, hasRelations, lastTick, isPlain, areRelationsShort };
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

function isShort(chunk: RawChunk): boolean {
  const [first] = relationEntries(chunk);
  return first !== undefined && first.sourceStream === null;
}

export function isCut(error: unknown): boolean {
  return isUscopeError(error) && error.code === 'CONVERT_TRUNCATED';
}
