/** The two threads of one picture. */
import { type Ask, Asker } from '../../data/asker.js';
import { INDEX_KERNEL } from '../../data/index-kernel.js';
import { threadProblem } from '../../data/problems.js';
import type { DataReport, OpenRequest, TraceOrigin } from '../../data/protocol.js';
import type { QuickQuestions } from '../../data/questions/table.js';
import type { CanvasSize, SceneReport, SceneRequest, SceneState } from '../../drawing/protocol.js';
import type { Command } from '../../model/commands.js';
import { grown } from '../../model/growth.js';
import type { RowDetails } from '../../model/row.js';
import type { View } from '../../model/view.js';
import { adviceFor } from '../advice.js';
import { beforeCommand } from '../navigation.js';
import { isAwaited } from '../opening.js';
import { addProblem, removeProblems } from '../problems.js';
import { info, pictureSize, settings, state, tell, wantedSources, writerGone } from '../store.js';
import { QuestionThread } from './question-thread.js';
import { Thread } from './thread.js';

/** An expression may take for ever; statistics look at the signal after each segment. */
const PATIENCE_MS = {
  search: 60,
  statistics: 2000,
  'run statistics': 2000,
  profile: 2000,
  transactions: 2000,
  text: 2000,
} as const;

const WRITER_GONE: Readonly<Record<string, string>> = {
  VIEW_ABANDONED: 'not written any more',
  READER_CHANGED: 'replaced by another file',
};

interface EngineStart {
  readonly origin: TraceOrigin;
  readonly core: string | null;
  /** Of the axis, where there is no core. */
  readonly clock: string | null;
  readonly canvas: HTMLCanvasElement;
  readonly minimap: HTMLCanvasElement;
  readonly view: View | null;
  readonly selected: number | null;
  readonly at: number | null;
}

/** @throws Error where the browser lacks what is needed */
export class Engine {
  private readonly data: Thread;
  private readonly scene: Thread;
  private readonly asker: Asker<QuickQuestions>;
  private readonly questionThreads = new Map<string, QuestionThread>();
  private readonly asked = new Map<number, (details: RowDetails | null) => void>();
  private readonly pictures = new Map<
    number,
    { readonly resolve: (picture: Blob | string) => void; readonly reject: (error: Error) => void }
  >();
  private nextId = 0;
  private readonly observer: ResizeObserver;

  constructor(private readonly start: EngineStart) {
    const { canvas, minimap } = start;
    const failed = (what: string): void => this.fail(what);
    this.data = new Thread(
      'data.js',
      [INDEX_KERNEL],
      'data',
      (report: DataReport) => this.takeData(report),
      failed,
    );
    this.scene = new Thread(
      'drawing.js',
      [],
      'drawing',
      (report: SceneReport) => this.takeScene(report),
      failed,
    );
    this.asker = new Asker((message) => this.data.post(message));
    const { port1, port2 } = new MessageChannel();
    const canvases = [canvas.transferControlToOffscreen(), minimap.transferControlToOffscreen()] as const;
    this.post(
      {
        type: 'start',
        canvas: canvases[0],
        minimap: canvases[1],
        port: port2,
        settings: settings.value,
        size: sizeOf(canvas),
        minimapSize: sizeOf(minimap),
        view: start.view,
        selected: start.selected,
        at: start.at,
      },
      [...canvases, port2],
    );
    const request: OpenRequest = {
      type: 'open',
      origin: start.origin,
      core: start.core,
      clock: start.clock,
      port: port1,
    };
    this.data.post(request, [port1]);
    const resized = (): void => {
      const size = sizeOf(canvas);
      pictureSize.value = size;
      this.post({ type: 'resize', size, minimapSize: sizeOf(minimap) });
    };
    this.observer = new ResizeObserver(resized);
    this.observer.observe(canvas);
    this.observer.observe(minimap);
  }

  /** A quick question to the trace: `data/questions`. */
  get ask(): Ask<QuickQuestions> {
    return this.asker.ask;
  }

  /** A reader of the trace for one purpose, which can be ended whatever it does. */
  questionThread(purpose: keyof typeof PATIENCE_MS): QuestionThread {
    const known = this.questionThreads.get(purpose);
    if (known) return known;
    const thread = new QuestionThread(purpose, PATIENCE_MS[purpose], this.start);
    this.questionThreads.set(purpose, thread);
    return thread;
  }

  run(command: Command): void {
    beforeCommand(command);
    this.post({ type: 'command', command });
  }

  post(request: SceneRequest, transfer: Transferable[] = []): void {
    this.scene.post(request, transfer);
  }

  /** What is known of a row; null while it is not loaded. */
  describe(row: number): Promise<RowDetails | null> {
    const id = this.nextId++;
    this.post({ type: 'describe', row, id });
    return new Promise((resolve) => this.asked.set(id, resolve));
  }

  /** What the pipeline shows, without the pointer: PNG, or the inside of an SVG. */
  picture(kind: 'png' | 'svg'): Promise<Blob | string> {
    const id = this.nextId++;
    this.post({ type: 'picture', kind, id });
    return new Promise((resolve, reject) => this.pictures.set(id, { resolve, reject }));
  }

  close(): void {
    this.observer.disconnect();
    for (const thread of this.questionThreads.values()) thread.close();
    this.data.close();
    this.scene.close();
  }

  private takeData(report: DataReport): void {
    if (report.type === 'opened' || report.type === 'grown') {
      info.value = report.type === 'opened' ? report.info : info.value && grown(info.value, report.growth);
      writerGone.value = null;
    } else if (report.type === 'waiting') isAwaited.value = true;
    else if (report.type === 'answer' || report.type === 'refused') this.asker.take(report);
    else {
      writerGone.value = WRITER_GONE[report.problem.code] ?? writerGone.value;
      addProblem(report.problem);
    }
  }

  private takeScene(report: SceneReport): void {
    if (report.type === 'drawn') this.drawn(report.state);
    else if (report.type === 'problem') this.fail(report.message);
    else if (report.type === 'canvas') this.canvasChanged(report.isLost);
    else if (report.type === 'sources') wantedSources.value = report.pcs;
    else if (report.type === 'row') {
      this.asked.get(report.id)?.(report.details);
      this.asked.delete(report.id);
    } else {
      const waiting = this.pictures.get(report.id);
      this.pictures.delete(report.id);
      if (report.type === 'picture') waiting?.resolve(report.picture);
      else waiting?.reject(new Error(report.message));
    }
  }

  private drawn(next: SceneState): void {
    const wasFollowing = state.value?.isFollowing === true;
    state.value = next;
    if (!wasFollowing || next.isFollowing) return;
    tell(info.value?.isComplete ? 'the run has ended' : 'no longer following: l follows the run again');
  }

  private fail(what: string): void {
    addProblem(threadProblem(what));
  }

  private canvasChanged(isLost: boolean): void {
    const what = 'The browser took the memory of the picture away.';
    if (isLost) addProblem({ code: 'VIEW_CANVAS', what, advice: adviceFor('VIEW_CANVAS'), isFatal: false });
    else removeProblems(['VIEW_CANVAS']);
  }
}

function sizeOf(element: HTMLElement): CanvasSize {
  const { width, height } = element.getBoundingClientRect();
  return { width, height, ratio: devicePixelRatio };
}

/** What this browser lacks; null: nothing. */
export function missingFeature(): string | null {
  if (typeof OffscreenCanvas === 'undefined') return 'OffscreenCanvas';
  if (!('transferControlToOffscreen' in HTMLCanvasElement.prototype)) return 'transferControlToOffscreen';
  return null;
}
