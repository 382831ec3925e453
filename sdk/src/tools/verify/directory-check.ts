/** The directory of an index against the one that its containers give: it is written anew, and each byte is compared with those of the file. */
import type { Trace } from '../../reader/index.js';
import type { Directory, ReadBytes } from '../../trace-index/directory/directory.js';
import {
  type DirectoryOutput,
  type PlacedContainer,
  writeDirectory,
} from '../../trace-index/directory/write-directory.js';
import type { IndexPlan } from '../../trace-index/plan.js';

/** A directory that is there. */
export interface StoredDirectory {
  readonly directory: Directory;
  readonly section: { readonly offset: number; readonly size: number };
  /** Of the file that it is in. */
  readonly read: ReadBytes;
}

/** Where the directory differs, as an offset in the file; null: it is the one that the containers give. */
export async function differenceOfDirectory(
  trace: Trace,
  plan: IndexPlan,
  { directory, section, read }: StoredDirectory,
  container: (segment: number) => Promise<PlacedContainer | null>,
): Promise<number | null> {
  const { timeEndPs } = await trace.segment(trace.segmentCount - 1);
  const output = new ComparingOutput(read, section.offset);
  const { startPs, levels, rows, sets } = directory.head;
  try {
    await writeDirectory(
      {
        plan,
        segments: trace.segmentCount,
        startPs,
        endPs: timeEndPs,
        crc32: trace.crc32,
        maxBytes: () => Number.POSITIVE_INFINITY,
        // How fine the levels are is the writer's decision.
        finest: [...levels, ...rows, ...sets].map(([first]) => first?.level ?? null),
        container,
      },
      output,
    );
  } catch (error) {
    if (error instanceof Difference) return error.offset;
    throw error;
  }
  return output.position === section.offset + section.size ? null : output.position;
}

/** Ends the writing: what follows would be made of other bytes than those of the file. */
class Difference extends Error {
  constructor(readonly offset: number) {
    super('the directory differs');
  }
}

class ComparingOutput implements DirectoryOutput {
  constructor(
    private readonly read: ReadBytes,
    public position: number,
  ) {}

  async append(bytes: Uint8Array): Promise<void> {
    const there = await this.read(this.position, bytes.length);
    const at = bytes.findIndex((byte, index) => byte !== there[index]);
    if (at >= 0) throw new Difference(this.position + at);
    this.position += bytes.length;
  }
}
