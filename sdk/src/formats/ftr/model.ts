/** What a file says of itself and its transactions besides them: header, texts, streams and generators, gathered chunk by chunk. */
import { UscopeError } from '../../base/errors.js';
import { DEFAULT_INFO, dictionaryEntries, directoryEntries, infoOf } from './content.js';
import type { RawChunk } from './reader.js';
import type { TransactionCursor } from './transaction-cursor.js';
import type {
  FtrAttribute,
  FtrInfo,
  FtrPhase,
  FtrRawRelation,
  FtrRelation,
  FtrText,
  FtrTransaction,
} from './types.js';
import { attributeValue, Dictionary, missingText, typeOf } from './values.js';

/** Streams and generators together. */
const MAX_DECLARATIONS = 1 << 20;

export interface StreamDeclaration {
  readonly kind: 'stream';
  readonly id: bigint;
  readonly name: FtrText;
  readonly streamKind: FtrText;
}

export interface GeneratorDeclaration {
  readonly kind: 'generator';
  readonly id: bigint;
  readonly name: FtrText;
  readonly stream: bigint;
}

export type Declaration = StreamDeclaration | GeneratorDeclaration;

/**
 *   for await (const chunk of file.chunks()) if (!model.take(chunk)) ...
 */
export class FtrModel {
  info: FtrInfo = DEFAULT_INFO;
  hasInfo = false;
  readonly dictionary = new Dictionary();
  /** In the order of the file. */
  readonly declarations: Declaration[] = [];
  readonly streams = new Map<bigint, StreamDeclaration>();
  readonly generators = new Map<bigint, GeneratorDeclaration>();

  /** Takes what a chunk declares; false for chunks of transactions and relations. @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT */
  take(chunk: RawChunk): boolean {
    if (chunk.kind === 'dictionary') {
      for (const [id, text] of dictionaryEntries(chunk)) this.dictionary.add(id, text);
      return true;
    }
    if (chunk.kind === 'directory') {
      this.directory(chunk);
      return true;
    }
    if (chunk.kind !== 'info') return false;
    const info = infoOf(chunk);
    this.hasInfo ||= info !== null;
    this.info = info ?? this.info;
    return true;
  }

  private directory(chunk: RawChunk): void {
    for (const entry of directoryEntries(chunk)) {
      if (this.declarations.length >= MAX_DECLARATIONS)
        throw new UscopeError('CONVERT_LIMIT', `more than ${MAX_DECLARATIONS} streams and generators`, {
          offset: chunk.offset,
        });
      const { id } = entry;
      const name = this.text(entry.name);
      if (entry.kind === 'stream') {
        const stream = { kind: 'stream', id, name, streamKind: this.text(entry.streamKind) } as const;
        this.streams.set(id, stream);
        this.declarations.push(stream);
      } else {
        const generator = { kind: 'generator', id, name, stream: entry.stream } as const;
        this.generators.set(id, generator);
        this.declarations.push(generator);
      }
    }
  }

  text(id: number): FtrText {
    return this.dictionary.get(id) ?? missingText(id);
  }

  /** The transaction that a cursor is at, with its names. */
  transaction(cursor: TransactionCursor, stream: bigint): FtrTransaction {
    const { id, generator, start, end, count } = cursor;
    const attributes: FtrAttribute[] = [];
    for (let i = 0; i < count; i++) {
      attributes.push({
        phase: cursor.phases[i] as FtrPhase,
        name: this.text(cursor.names[i]),
        type: typeOf(cursor.types[i]),
        value: attributeValue(
          this.dictionary,
          cursor.types[i],
          cursor.forms[i],
          cursor.los[i],
          cursor.his[i],
        ),
      });
    }
    return { id, stream, generator, start, end, attributes };
  }

  relation({ name, source, sink, sourceStream, sinkStream }: FtrRawRelation): FtrRelation {
    return {
      name: this.text(name),
      source,
      sink,
      sourceStream: sourceStream ?? 0n,
      sinkStream: sinkStream ?? 0n,
    };
  }
}
