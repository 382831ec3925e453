/** Reads and draws one trace on one thread: what the page's two workers do, for a single picture. */
import { BlockServer } from '../data/block-server.js';
import type { DataMessage, Problem, Want } from '../data/protocol.js';
import type { Session } from '../data/session.js';
import type { SceneReport, SceneState } from '../drawing/protocol.js';
import { Scene } from '../drawing/scene.js';
import type { Settings } from '../drawing/settings.js';
import type { TimeView } from '../model/time-view.js';
import { showing } from '../model/view.js';
import type { Notes, PictureRequest } from './request.js';
import type { HeadlessCanvas } from './surroundings.js';

interface PipelineCanvases {
  /** Empty, in their sizes. */
  readonly rows: HeadlessCanvas;
  readonly overview: HeadlessCanvas;
}

/** Messages between reading and drawing have all arrived after this number of turns without a new picture. */
const QUIET_TURNS = 5;
const TURN_MS = 4;

export class Pipeline {
  /** What of the trace could not be read. */
  readonly problems: Problem[] = [];
  private readonly scene: Scene;
  private readonly server: BlockServer;
  private readonly channel = new MessageChannel();
  private state: SceneState | null = null;
  private failure: Error | null = null;
  private notesAsked = 0;

  constructor(
    session: Session,
    private readonly settings: Settings,
    readonly canvases: PipelineCanvases,
    private readonly notes: Notes | null,
  ) {
    const { port1, port2 } = this.channel;
    const post = (message: DataMessage, transfer: Transferable[]): void =>
      port1.postMessage(message, transfer);
    this.server = new BlockServer(session, post, (problem) => this.problems.push(problem), {
      // The picture is of the trace as it is now.
      grown: () => undefined,
      isWritten: () => true,
      hasNews: async () => false,
    });
    port1.onmessage = ({ data }: MessageEvent<Want>) => this.server.want(data);
    this.scene = new Scene(
      {
        canvas: canvases.rows as unknown as OffscreenCanvas,
        minimap: canvases.overview as unknown as OffscreenCanvas,
        port: port2,
        settings,
        size: { ...sizeOf(canvases.rows), ratio: 1 },
        minimapSize: { ...sizeOf(canvases.overview), ratio: 1 },
        view: null,
        selected: null,
        at: null,
      },
      (report) => this.take(report),
    );
    if (notes) this.scene.note([]);
    post({ type: 'trace', info: session.info }, []);
    this.server.run().catch((error: Error) => this.fail(error));
  }

  /** What of the time axis is shown. */
  get view(): TimeView {
    const { x, scale } = this.scene.view;
    return { x, scale, width: this.plotWidth, ratio: 1 };
  }

  /**
   * Shows cycles, and waits until all of it is drawn, as far as the trace can be read.
   * @throws Error where the drawing fails; the reason of the signal
   */
  async show(cycles: PictureRequest['cycles'], signal: AbortSignal | undefined): Promise<void> {
    await this.until(() => this.state !== null, signal);
    if (cycles) {
      const view = showing(this.scene.view, cycles.from, cycles.to, this.plotWidth);
      this.scene.run({ do: 'view', view, selected: null });
      this.scene.run({ do: 'return' });
    } else this.scene.run({ do: 'fit' });
    this.state = null;
    let frame = -1;
    let quiet = 0;
    await this.until(() => {
      const isSame = this.state !== null && this.isDone && this.state.frame === frame;
      quiet = isSame ? quiet + 1 : 0;
      frame = this.state?.frame ?? -1;
      return quiet >= QUIET_TURNS;
    }, signal);
  }

  /** What is in the element of an SVG. */
  async svg(): Promise<string> {
    return String(await this.scene.picture('svg'));
  }

  close(): void {
    this.server.stop();
    this.channel.port1.close();
  }

  private get plotWidth(): number {
    return this.canvases.rows.width - this.settings.gutter;
  }

  /** There is no more to be read, also of a damaged trace, and it is drawn. */
  private get isDone(): boolean {
    return this.notesAsked === 0 && this.server.rests && this.scene.isOverviewDrawn;
  }

  private async until(isReached: () => boolean, signal: AbortSignal | undefined): Promise<void> {
    while (!isReached()) {
      await new Promise((resolve) => setTimeout(resolve, TURN_MS));
      signal?.throwIfAborted();
      if (this.failure) throw this.failure;
    }
  }

  private take(report: SceneReport): void {
    if (report.type === 'drawn') this.state = report.state;
    else if (report.type === 'problem') this.fail(new Error(report.message));
    else if (report.type === 'sources') void this.annotate(report.pcs);
  }

  private async annotate(pcs: readonly string[]): Promise<void> {
    if (!this.notes) return;
    this.notesAsked++;
    try {
      this.scene.note(await this.notes(pcs));
    } catch (error) {
      this.fail(error as Error);
    }
    this.notesAsked--;
  }

  private fail(error: Error): void {
    this.failure ??= error;
  }
}

const sizeOf = ({ width, height }: HeadlessCanvas) => ({ width, height });
