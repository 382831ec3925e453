/**
 * The index of a trace (docs/format.md#index-containers) against the one that its frames give, segment after segment, each with the carry of the one
 * before; and its directory.
 */
import { equalBytes } from '../../base/bytes.js';
import { commitRecordSize, indexOfRecord } from '../../format/commit-record.js';
import {
  decodeIndexContainer,
  IndexPart,
  isIndexContainer,
  sealIndexContainer,
} from '../../format/index-container.js';
import type { Codec } from '../../reader/codec.js';
import { commitRecordOffset } from '../../reader/commit-strings.js';
import { type LoadedSegment, openTrace, type Source, type Trace } from '../../reader/index.js';
import { Directory } from '../../trace-index/directory/directory.js';
import { DIRECTORY_SECTION } from '../../trace-index/directory/format.js';
import type { PlacedContainer } from '../../trace-index/directory/write-directory.js';
import { IndexPass } from '../../trace-index/pass/index-pass.js';
import { type IndexPlan, indexPlan } from '../../trace-index/plan.js';
import { fitContainer } from '../../trace-index/recording/size-limit.js';
import { type Carry, FIRST } from '../../trace-index/reference/reference-pass.js';
import { differenceOfDirectory } from './directory-check.js';
import type { FindingLog } from './finding.js';

/** Behind a segment, read at once. */
const READ_AHEAD = 64 * 1024;

/** @param source of a trace without errors otherwise */
export async function checkIndex(source: Source, codec: Codec, log: FindingLog): Promise<void> {
  // The source is the caller's to close.
  const view: Source = {
    name: source.name,
    size: () => source.size(),
    read: (offset, length) => source.read(offset, length),
  };
  const trace = await openTrace(view, { codec });
  const plan = indexPlan(trace.schema, trace.dut);
  await trace.segments();
  await new IndexCheck(trace, plan, log).run();
}

class IndexCheck {
  private readonly pass: IndexPass;
  /** A container is damaged or lies: the directory was made of others. */
  private isWrong = false;

  constructor(
    private readonly trace: Trace,
    private readonly plan: IndexPlan,
    private readonly log: FindingLog,
  ) {
    this.pass = new IndexPass(trace, plan);
  }

  async run(): Promise<void> {
    const { trace } = this;
    let carry: Carry = FIRST;
    let containers = 0;
    for (let index = 0; index < trace.segmentCount; index++) {
      const segment = await trace.loadSegment(index);
      const found = await this.stored(segment);
      if (found) containers++;
      // Without any index in the first segments none is looked for.
      if (containers === 0 && index >= 2) return;
      const made = found ? await this.compare(segment, found, carry) : await this.pass.run(segment, carry);
      carry = made?.carry ?? null;
    }
    if (containers > 0 && !this.isWrong) await this.checkDirectory();
  }

  private async stored(
    segment: LoadedSegment,
  ): Promise<{ readonly offset: number; readonly bytes: Uint8Array } | null> {
    const at = commitRecordOffset(segment.deltasOffset + segment.header.deltasCompressedSize);
    const first = await this.trace.bytes(at, READ_AHEAD);
    const size = commitRecordSize(first);
    const record = size > first.length ? await this.trace.bytes(at, size) : first;
    const found = indexOfRecord(record);
    return (
      found && { offset: at + found.offset, bytes: record.subarray(found.offset, found.offset + found.size) }
    );
  }

  private async compare(
    segment: LoadedSegment,
    { offset, bytes }: { readonly offset: number; readonly bytes: Uint8Array },
    carry: Carry,
  ): Promise<{ readonly carry: Uint8Array } | null> {
    const { trace, plan, log } = this;
    const made = await this.pass.run(segment, carry);
    if (!isIndexContainer(bytes, trace.crc32)) {
      this.isWrong = true;
      log.add(
        'error',
        'FORMAT_CHECKSUM',
        offset,
        `the index of the segment at ${segment.offset} is not what was written`,
      );
      return made;
    }
    if (decodeIndexContainer(bytes, offset, null)?.planCrc !== plan.crc) {
      log.once(
        'index-plan',
        'info',
        'VERIFY_INDEX',
        offset,
        'the index was made by other rules than those of this release: it is not compared',
      );
      return made;
    }
    // A writer that went on after a damaged index did not know what was in flight.
    const isRight = (one: typeof made): boolean =>
      one !== null && equalBytes(this.fitted(one.container, segment), bytes);
    if (isRight(made)) return made;
    const unknown = carry === null ? null : await this.pass.run(segment, null);
    if (isRight(unknown)) {
      log.add(
        'info',
        'VERIFY_INDEX',
        offset,
        `the index of the segment at ${segment.offset} begins anew: at its start nothing was known of what is in flight`,
      );
      return unknown;
    }
    this.isWrong = true;
    log.add(
      'error',
      'VERIFY_INDEX',
      offset,
      `the index of the segment at ${segment.offset} ${this.difference(made?.container ?? null, bytes)}`,
    );
    return made;
  }

  private fitted(container: Uint8Array, { offset, header }: LoadedSegment): Uint8Array {
    const segmentBytes = header.checkpointSize + header.deltasCompressedSize;
    const fitting = fitContainer(this.plan, container, segmentBytes);
    if (!fitting) return new Uint8Array(0);
    sealIndexContainer(fitting, offset, this.trace.crc32);
    return fitting;
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
    const { trace, plan, log } = this;
    const section = trace.section(DIRECTORY_SECTION);
    if (!section) return;
    const read = (offset: number, length: number) => trace.bytes(offset, length);
    const directory = await Directory.open(trace, plan, read, section);
    if (!directory) {
      log.add(
        'error',
        'VERIFY_INDEX',
        section.offset,
        'the directory of the index does not belong to this trace, or is damaged',
      );
      return;
    }
    for (let index = 0; index < trace.segmentCount; index++) {
      const place = await directory.place(index);
      const found = await this.stored(await trace.loadSegment(index));
      if (place && (found?.offset ?? 0) === place.offset && (found?.bytes.length ?? 0) === place.size)
        continue;
      log.add(
        'error',
        'VERIFY_INDEX',
        section.offset,
        `the directory of the index is wrong about segment ${index}`,
      );
      return;
    }
    const at = await differenceOfDirectory(trace, plan, directory, section, (index) => this.placed(index));
    if (at === null) return;
    const detail = 'the directory of the index is not the one that its containers give, from here on';
    log.add('error', 'VERIFY_INDEX', at, detail);
  }

  /** The container of a segment as the directory's writer took it. */
  private async placed(index: number): Promise<PlacedContainer | null> {
    const found = await this.stored(await this.trace.loadSegment(index));
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
