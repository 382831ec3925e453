import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AckGate } from './ack-gate.js';

const MiB = 1024 * 1024;
const CREDIT = 32 * MiB;
/** One frame each. */
const MESSAGE = MiB / 4;

/** A client and its daemon, ms by ms: the client sends as fast as it may, up to a rate, the daemon takes `perMs` messages and makes them durable later. */
class Run {
  now = 0;
  sent = 0;
  taken = 0;
  acked = 0;
  /** Times at which the daemon had nothing to do although the client had something to send. */
  idle = 0;
  /** Bytes that waited for the daemon, by ms. */
  readonly queues: number[] = [];
  readonly acks: bigint[] = [];
  readonly gate = new AckGate(
    CREDIT,
    (frames) => {
      this.acks.push(frames);
      this.acked = Number(frames);
    },
    () => this.now,
  );
  private readonly commits: { at: number; frames: number }[] = [];

  constructor(
    private readonly daemonPerMs: number,
    private readonly commitMs: number,
  ) {}

  run(ms: number, clientPerMs: number, isHasty: boolean): void {
    let mayTake = 0;
    let maySend = 0;
    for (const end = this.now + ms; this.now < end; this.now++) {
      if (isHasty && this.now % 1000 === 0) this.gate.hasten();
      maySend += clientPerMs;
      for (; maySend >= 1; maySend--) if ((this.sent + 1 - this.acked) * MESSAGE <= CREDIT) this.sent++;
      for (mayTake = Math.min(mayTake, 1) + this.daemonPerMs; mayTake >= 1; mayTake--) this.take(clientPerMs);
      while (this.commits[0] && this.commits[0].at <= this.now)
        this.gate.durable(BigInt(this.commits.shift()!.frames));
      this.queues.push((this.sent - this.taken) * MESSAGE);
    }
  }

  private take(clientPerMs: number): void {
    if (this.sent === this.taken) {
      if (clientPerMs > this.daemonPerMs) this.idle++;
      return;
    }
    this.taken++;
    this.gate.take(MESSAGE, BigInt(this.taken), (this.sent - this.taken) * MESSAGE);
    this.commits.push({ at: this.now + this.commitMs, frames: this.taken });
  }
}

/** Four frames have been taken; two of them are durable, and not acknowledged. */
function gateThatHolds(): { gate: AckGate; acks: bigint[] } {
  const acks: bigint[] = [];
  const gate = new AckGate(
    CREDIT,
    (frames) => acks.push(frames),
    () => 0,
  );
  gate.hasten();
  for (let frames = 1n; frames <= 4n; frames++) gate.take(4 * MiB, frames, CREDIT);
  gate.durable(2n);
  return { gate, acks };
}

/** Of a part of the run. */
const longest = (queues: readonly number[]): number => Math.max(...queues);

describe('acknowledgements', () => {
  it('of a client that its daemon keeps up with are sent at once, also while somebody looks on', () => {
    const run = new Run(2, 20);
    run.run(3000, 0.5, true);
    expect(run.acks.length).toBeGreaterThan(1400);
    expect((run.taken - run.acked) * MESSAGE).toBeLessThan(11 * MESSAGE);
  });

  it('of one that is too fast are sent at once while nobody looks on: its credit is full', () => {
    const run = new Run(0.25, 20);
    run.run(3000, 20, false);
    expect(run.queues.at(-1)).toBeGreaterThan(CREDIT - 8 * MESSAGE);
    expect(run.acks.at(-1)).toBe(BigInt(run.acked));
  });

  it.each([0.1, 0.25, 1, 2])('let a short queue wait while somebody looks on, %d messages a ms', (perMs) => {
    const run = new Run(perMs, 30);
    run.run(2000, 20, false);
    const before = run.taken;
    run.run(6000, 20, true);
    // A tenth of a second's work, or 4 MiB.
    const room = Math.min(Math.max(100 * perMs * MESSAGE, 4 * MiB), CREDIT / 2);
    expect(longest(run.queues.slice(-3000))).toBeLessThanOrEqual(room * 1.1 + 2 * MESSAGE);
    // The daemon has as much to do as ever.
    expect(run.idle).toBeLessThanOrEqual(1);
    expect(run.taken - before).toBeGreaterThanOrEqual(Math.floor(6000 * perMs) - 1);
    run.run(4000, 20, false);
    expect(run.queues.at(-1)).toBeGreaterThan(CREDIT / 2);
  });

  it('are for what is durable only, rise, and are whole when somebody waits for them', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 50 }), fc.nat(200), fc.nat(6)), {
      maxLength: 80,
    });
    fc.assert(
      fc.property(steps, (all) => {
        let [now, durable, taken] = [0, 0n, 0n];
        const acks = [0n];
        const gate = new AckGate(
          CREDIT,
          (frames) => acks.push(frames),
          () => now,
        );
        for (const [size, wait, what] of all) {
          now += wait;
          if (what === 0) gate.hasten();
          if (what === 1) gate.release();
          if (what < 2) continue;
          taken += BigInt(size);
          gate.take(size * MiB, taken, what * 8 * MiB);
          if (what < 4) continue;
          durable += (taken - durable) / BigInt(what - 3);
          gate.durable(durable);
          expect(acks.at(-1)! <= durable).toBe(true);
        }
        gate.release();
        expect(acks).toEqual([...acks].sort((a, b) => Number(a - b)));
        expect(acks.at(-1)).toBe(durable);
      }),
    );
  });

  it('do not wait for a client that sends nothing: it may need more room than is left', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { gate, acks } = gateThatHolds();
    vi.advanceTimersByTime(60);
    gate.take(4 * MiB, 5n, CREDIT);
    vi.advanceTimersByTime(60);
    expect(acks).toEqual([]);
    vi.advanceTimersByTime(60);
    expect(acks).toEqual([2n]);
    gate.durable(3n);
    gate.restart();
    vi.advanceTimersByTime(1000);
    expect(acks).toEqual([2n]);
  });

  it('begin anew with the connection', () => {
    const { gate, acks } = gateThatHolds();
    gate.restart();
    gate.release();
    expect(acks).toEqual([]);
    gate.take(8 * MiB, 3n, 0);
    gate.durable(3n);
    gate.release();
    expect(acks).toEqual([3n]);
  });
});
