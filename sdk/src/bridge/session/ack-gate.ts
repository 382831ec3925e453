/**
 * How far a client is acknowledged. Mostly that is all that is durable. But a simulator that is faster than its daemon fills its whole credit, and what it
 * does then is seen when the daemon has worked through all of that. So while somebody looks on, such a client gets only as much room as keeps the daemon
 * at work: it has to wait anyway, and waits earlier. A client that the daemon keeps up with gets all at once, as ever.
 */

/** A wish for haste lasts so long, as that of the writer (cut-timer.ts). */
const HASTE_LASTS_MS = 2000;
/** Of work that may wait for the daemon; never less than MIN_ROOM_BYTES, so that it does not run out between two looks of the client's thread. */
const ROOM_MS = 100;
const MIN_ROOM_BYTES = 4 * 1024 * 1024;
/** In which the daemon's speed is measured. */
const WINDOW_MS = 200;
/** Without a long queue for this time the daemon keeps up. */
const KEEPS_UP_MS = 250;
/** So long a client may be silent while acknowledgements are held back. Then it may wait for more room than it has, say for one large frame. */
const SILENCE_MS = 100;

/** Up to here, in frames of the client and in bytes that it has sent. */
interface Mark {
  readonly frames: bigint;
  readonly bytes: number;
}

export class AckGate {
  private hastyUntil = Number.NEGATIVE_INFINITY;
  private behindUntil = Number.NEGATIVE_INFINITY;
  /** Bytes of records that the writer has been given, and of those that are acknowledged. */
  private taken = 0;
  private acknowledged = 0;
  /** After each message that is not durable yet. */
  private open: Mark[] = [];
  /** Durable, and held back. */
  private held: Mark[] = [];
  private room = MIN_ROOM_BYTES;
  private windowAt = Number.NEGATIVE_INFINITY;
  private windowTaken = 0;
  private silence: NodeJS.Timeout | null = null;

  /**
   * @param credit bytes that the client may have unacknowledged
   * @param send acknowledges the client's frames below a number
   * @param now in ms
   */
  constructor(
    private readonly credit: number,
    private readonly send: (frames: bigint) => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Somebody looks on, for the next two seconds. */
  hasten(): void {
    this.hastyUntil = this.now() + HASTE_LASTS_MS;
  }

  /**
   * The writer has been given a message.
   * @param nextFrame ordinal of the first frame after it
   * @param queued bytes of messages that wait
   */
  take(bytes: number, nextFrame: bigint, queued: number): void {
    const now = this.now();
    this.taken += bytes;
    this.open.push({ frames: nextFrame, bytes: this.taken });
    this.measure(now);
    if (queued >= this.room / 2) this.behindUntil = now + KEEPS_UP_MS;
    this.pass(now);
  }

  /** Frames below `frames` are durable. */
  durable(frames: bigint): void {
    const first = this.open.findIndex((mark) => mark.frames > frames);
    const passed = this.open.splice(0, first < 0 ? this.open.length : first);
    const bytes = passed.at(-1)?.bytes ?? this.held.at(-1)?.bytes ?? this.acknowledged;
    this.held.push({ frames, bytes });
    this.pass(this.now());
  }

  /** Somebody waits for what is durable, or nothing comes any more. */
  release(): void {
    const last = this.held.at(-1);
    this.held = [];
    this.watch();
    if (last) this.acknowledge(last);
  }

  /** The client begins again after what is durable, which `opened` says. */
  restart(): void {
    this.open = [];
    this.held = [];
    this.watch();
    this.acknowledged = this.taken;
  }

  private pass(now: number): void {
    if (now >= this.hastyUntil || now >= this.behindUntil) {
      this.release();
      return;
    }
    // What the client may send beyond what has been taken is `credit - (taken - acknowledged)`.
    while (this.held.length > 0 && this.taken - this.acknowledged > this.credit - this.room)
      this.acknowledge(this.held.shift()!);
    this.watch();
  }

  /** Called after every message, as long as something is held back: nothing is held for ever. */
  private watch(): void {
    if (this.held.length > 0) {
      if (this.silence) this.silence.refresh();
      else this.silence = setTimeout(() => this.release(), SILENCE_MS).unref();
    } else if (this.silence) {
      clearTimeout(this.silence);
      this.silence = null;
    }
  }

  private acknowledge({ frames, bytes }: Mark): void {
    this.acknowledged = bytes;
    this.send(frames);
  }

  private measure(now: number): void {
    const passed = now - this.windowAt;
    if (passed < WINDOW_MS) return;
    const room = ((this.taken - this.windowTaken) / passed) * ROOM_MS;
    this.room = Math.min(Math.max(room, MIN_ROOM_BYTES), this.credit / 2);
    this.windowAt = now;
    this.windowTaken = this.taken;
  }
}
