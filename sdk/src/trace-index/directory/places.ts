/** The places of the index containers of a trace, and the births before each segment: the entries of a directory. */
import type { ByteWriter } from '../../base/bytes.js';
import { encodePlace } from './format.js';

export interface Place {
  readonly offset: number;
  readonly size: number;
}

export class Places {
  /** Of all containers. */
  bytes = 0;
  private readonly offsets: Float64Array;
  private readonly sizes: Uint32Array;
  /** By core, births before each segment; NaN: not known. */
  private readonly births: readonly Float64Array[];
  private readonly totals: number[];

  constructor(cores: number, segments: number) {
    this.offsets = new Float64Array(segments);
    this.sizes = new Uint32Array(segments);
    this.births = Array.from({ length: cores }, () => new Float64Array(segments));
    this.totals = this.births.map(() => 0);
  }

  /** Segments come in their order. @param births by core; null: not known */
  add(segment: number, container: Place | null, births: readonly (number | null)[]): void {
    this.offsets[segment] = container?.offset ?? 0;
    this.sizes[segment] = container?.size ?? 0;
    this.bytes += container?.size ?? 0;
    this.births.forEach((before, core) => {
      before[segment] = this.totals[core]!;
      this.totals[core] = this.totals[core]! + (births[core] ?? Number.NaN);
    });
  }

  encode(writer: ByteWriter, segment: number): void {
    const births = this.births.map((counts) => (Number.isNaN(counts[segment]) ? null : counts[segment]!));
    encodePlace(writer, { offset: this.offsets[segment]!, size: this.sizes[segment]!, births });
  }
}
