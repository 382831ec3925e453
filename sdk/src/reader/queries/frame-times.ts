/** Does the period of the clock fit the times of the frames? */
import { isUscopeError } from '../../base/errors.js';
import type { ClockDef, Schema } from '../../format/types.js';
import type { Trace } from '../trace.js';

export interface PeriodMismatch {
  readonly detail: string;
  /** The likely cause in the tracer, and what to do. */
  readonly cause: string;
  readonly firstTimePs: bigint;
}

/** Scopes that record when something happens, not what each cycle shows: their clock is a unit of time. */
const EVENT_PROTOCOLS = new Set(['tr']);

/** The clock at whose edges all frames should be; null: there are several clocks, or only one that counts time. */
export function sampledClock({ clocks, scopes, events, storages }: Schema): ClockDef | null {
  const [clock, ...others] = clocks;
  if (!clock || others.length > 0) return null;
  const eventScopes = new Set(
    scopes.filter(({ protocol }) => EVENT_PROTOCOLS.has(protocol ?? '')).map(({ scopeId }) => scopeId),
  );
  const countsTime =
    eventScopes.size > 0 && [...events, ...storages].every(({ scopeId }) => eventScopes.has(scopeId));
  return countsTime ? null : clock;
}

/** What the first segment shows of the period, in a trace with one clock; null: it fits. A segment that cannot be read shows nothing. */
export async function periodMismatch(trace: Trace): Promise<PeriodMismatch | null> {
  const clock = sampledClock(trace.schema);
  if (!clock || trace.segmentCount === 0) return null;
  const times = new FrameTimes(BigInt(clock.periodPs));
  try {
    const first = await trace.segment(0);
    const reported = await reportedMismatch(trace, first.timeStartPs, first.timeEndPs);
    if (reported) return reported;
    const frame = ({ timePs }: { timePs: bigint }): void => times.frame(timePs);
    await trace.scan({ from: first.timeStartPs, to: first.timeEndPs }, { frame });
  } catch (error) {
    if (isUscopeError(error)) return null;
    throw error;
  }
  return times.mismatch(clock.name);
}

/** What a tracer that counts its times (uscope_rvfi) says of the simulator's clock: its frames fit the period of the schema, whichever that is. */
async function reportedMismatch(trace: Trace, from: bigint, to: bigint): Promise<PeriodMismatch | null> {
  const types = trace.schema.events.filter(({ name }) => name === 'clock_period');
  if (types.length === 0) return null;
  const ids = types.map(({ eventTypeId }) => eventTypeId);
  for await (const event of trace.events(from, to, ids)) {
    const [expected, found] = [event.field('expected_ps'), event.field('found_ps')];
    if (expected === undefined || found === undefined) continue;
    return {
      detail: `the clock of the simulator rose every ${found} ps, its period in the schema is ${expected} ps (event ${event.name})`,
      cause: `cycles are right, times are not those of the simulator: give the clock that period, for example with VARIABLES("period=${found} ps") of uscope_rvfi`,
      firstTimePs: event.timePs,
    };
  }
  return null;
}

/** Takes the times of frames in order. */
export class FrameTimes {
  private frames = 0;
  private lastPs = 0n;
  private firstPs = 0n;
  /** Greatest common divisor of all distances between frames. */
  private stepPs = 0n;
  private unevenPs: bigint | null = null;

  constructor(private readonly periodPs: bigint) {}

  frame(timePs: bigint): void {
    if (this.frames === 0) this.firstPs = timePs;
    else this.stepPs = gcd(this.stepPs, timePs - this.lastPs);
    if (this.unevenPs === null && this.periodPs > 0n && timePs % this.periodPs !== 0n) this.unevenPs = timePs;
    this.lastPs = timePs;
    this.frames++;
  }

  /** Cycles from the first frame to the last. */
  get cycles(): bigint {
    return this.periodPs > 0n && this.frames > 0 ? (this.lastPs - this.firstPs) / this.periodPs + 1n : 0n;
  }

  /** @param name of the clock */
  mismatch(name: string): PeriodMismatch | null {
    const { periodPs, stepPs, unevenPs } = this;
    if (periodPs <= 0n || this.frames < 3) return null;
    if (unevenPs !== null) {
      const detail = `frames are not at multiples of the period of ${name}, ${periodPs} ps: one is at ${unevenPs} ps, all are ${stepPs} ps apart or a multiple of that`;
      const cause = `the schema gives ${name} another period than the tracer counts time with: write period and time from one constant, or take the period from the schema (uscope_clock_period)`;
      return { detail, cause, firstTimePs: unevenPs };
    }
    if (stepPs > periodPs) {
      const detail = `no two frames are closer than ${stepPs / periodPs} cycles of ${name}: every frame is at a multiple of ${stepPs} ps, the period is ${periodPs} ps`;
      const cause = `the period of ${name} in the schema is too short, or time is counted in half cycles: ${stepPs} ps would fit`;
      return { detail, cause, firstTimePs: this.firstPs };
    }
    return null;
  }
}

function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}
