/**
 * The index of a trace (docs/reference/format.md#index-containers) against the one that its frames give, segment after segment, each with the carry of the one
 * before; and its directory.
 */
import { equalBytes } from '../../base/bytes.js';
import { decodeIndexContainer, IndexPart, isIndexContainer } from '../../format/index-container.js';
import {
  type LoadedSegment,
  type OpenOptions,
  openTrace,
  type Source,
  type Trace,
} from '../../reader/index.js';
import type { PlacedContainer } from '../../trace-index/directory/write-directory.js';
import { type Carry, FIRST, IndexPass } from '../../trace-index/pass/index-pass.js';
import { type IndexPlan, indexPlan } from '../../trace-index/plan.js';
import { differenceOfDirectory } from './directory-check.js';
import type { FindingLog } from './finding.js';
import { type IndexAtHand, OwnIndex, type Stored, sidecarIndex } from './indexes-at-hand.js';

/**
 * @param source of a trace without errors otherwise
 * @param sidecar the file beside it: checked where the trace itself has no index
 */
export async function checkIndex(
  source: Source,
  options: Pick<OpenOptions, 'codec' | 'maxSegmentBytes'>,
  log: FindingLog,
  sidecar: Source | null,
): Promise<void> {
  // The source is the caller's to close.
  const view: Source = {
    name: source.name,
    size: () => source.size(),
    read: (offset, length) => source.read(offset, length),
  };
  const trace = await openTrace(view, options);
  const plan = indexPlan(trace.schema, trace.dut);
  await trace.segments();
  if (await new IndexCheck(trace, plan, log, new OwnIndex(trace, plan)).run()) return;
  const beside = sidecar && (await sidecarIndex(trace, plan, sidecar, log));
  if (beside) await new IndexCheck(trace, plan, log, beside).run();
}

class IndexCheck {
  private readonly pass: IndexPass;
  /** A container is damaged or lies: the directory was made of others. */
  private isWrong = false;

  constructor(
    private readonly trace: Trace,
    private readonly plan: IndexPlan,
    private readonly log: FindingLog,
    private readonly index: IndexAtHand,
  ) {
    this.pass = new IndexPass(trace, plan);
  }

  /** False: there is no index. */
  async run(): Promise<boolean> {
    const { trace, index: checked } = this;
    let carry: Carry = FIRST;
    let containers = 0;
    for (let index = 0; index < trace.segmentCount; index++) {
      const segment = await trace.loadSegment(index);
      const found = await checked.stored(segment);
      if (found) containers++;
      if (containers === 0 && index >= 2 && checked.mayBeMissing) return false;
      const made = found ? await this.compare(segment, found, carry) : await this.pass.run(segment, carry);
      carry = made?.carry ?? null;
    }
    if (containers > 0 && !this.isWrong) await this.checkDirectory();
    return containers > 0;
  }

  private async compare(
    segment: LoadedSegment,
    { offset, bytes }: Stored,
    carry: Carry,
  ): Promise<{ readonly carry: Uint8Array } | null> {
    const { trace, plan, log } = this;
    const { prefix } = this.index;
    const made = await this.pass.run(segment, carry);
    if (!isIndexContainer(bytes, trace.crc32)) {
      this.isWrong = true;
      log.add(
        'error',
        'FORMAT_CHECKSUM',
        offset,
        `${prefix}the index of the segment at ${segment.offset} is not what was written`,
      );
      return made;
    }
    if (decodeIndexContainer(bytes, offset, null)?.planCrc !== plan.crc) {
      log.once(
        'index-plan',
        'info',
        'VERIFY_INDEX',
        offset,
        `${prefix}the index was made by other rules than those of this release: it is not compared`,
      );
      return made;
    }
    // A writer that continued after a damaged index did not know what was in flight.
    const isRight = (one: typeof made): boolean =>
      one !== null && equalBytes(this.index.fitted(one.container, segment) ?? new Uint8Array(0), bytes);
    if (isRight(made)) return made;
    const unknown = carry === null ? null : await this.pass.run(segment, null);
    if (isRight(unknown)) {
      log.add(
        'info',
        'VERIFY_INDEX',
        offset,
        `${prefix}the index of the segment at ${segment.offset} begins anew: at its start nothing was known of what is in flight`,
      );
      return unknown;
    }
    this.isWrong = true;
    log.add(
      'error',
      'VERIFY_INDEX',
      offset,
      `${prefix}the index of the segment at ${segment.offset} ${this.difference(made?.container ?? null, bytes)}`,
    );
    return made;
  }

  private difference(made: Uint8Array | null, stored: Uint8Array): string {
    if (!made) return 'is there, although its frames do not follow the schema';
    const parts = decodeIndexContainer(stored, 0, null)?.parts ?? [];
    for (const { kind, subject, bytes } of decodeIndexContainer(made, 0, null)?.parts ?? []) {
      const other = parts.find((part) => part.kind === kind && part.subject === subject);
      if (other && !equalBytes(other.bytes, bytes)) {
        return `differs in its part ${nameOf(kind)} ${subject} from the one that the frames give`;
      }
    }
    return 'has other parts than the one that the frames give';
  }

  private async checkDirectory(): Promise<void> {
    const { trace, plan, log, index: checked } = this;
    const found = await checked.directory();
    if (!found) return;
    const wrong = (offset: number, detail: string) =>
      log.add('error', 'VERIFY_INDEX', offset, `${checked.prefix}the directory of the index ${detail}`);
    if ('wrong' in found) {
      wrong(found.offset, found.wrong);
      return;
    }
    for (let index = 0; index < trace.segmentCount; index++) {
      const place = await found.directory.place(index);
      const stored = await checked.stored(await trace.loadSegment(index));
      if (place && (stored?.offset ?? 0) === place.offset && (stored?.bytes.length ?? 0) === place.size)
        continue;
      wrong(found.section.offset, `is wrong about segment ${index}`);
      return;
    }
    const at = await differenceOfDirectory(trace, plan, found, (index) => this.placed(index));
    if (at !== null) wrong(at, 'is not the one that its containers give, from here on');
  }

  /** The container of a segment as the directory's writer took it. */
  private async placed(index: number): Promise<PlacedContainer | null> {
    const found = await this.index.stored(await this.trace.loadSegment(index));
    if (!found) return null;
    const { offset, bytes } = found;
    const container = decodeIndexContainer(bytes, offset, null);
    return container?.planCrc === this.plan.crc
      ? { offset, size: bytes.length, parts: container.parts }
      : null;
  }
}

function nameOf(kind: number): string {
  return Object.entries(IndexPart).find(([, value]) => value === kind)?.[0] ?? String(kind);
}
