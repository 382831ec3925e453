/**
 * The column of the page as a picture, drawn in Node by the code that draws it in the page: overview, pipeline and tracks, as they are before
 * a user changes them. A canvas of the caller's draws the text.
 */
import { describeProblem } from '../data/problems.js';
import type { Problem } from '../data/protocol.js';
import { window as askWindow } from '../data/questions/window.js';
import { Session } from '../data/session.js';
import { DEFAULT_SETTINGS, type Settings } from '../drawing/settings.js';
import { themeOf } from '../model/palette.js';
import { DEFAULT_LAYOUT, isPanelShown } from '../model/panels.js';
import { endOf, type TimeView, xOf } from '../model/time-view.js';
import { tracksOf } from '../model/trace-panels.js';
import { drawEventOverview, overviewWindow } from '../tracks/event-overview.js';
import { LaneCanvas } from '../tracks/lane-canvas.js';
import { type Brush, fillBox, pngBrush, svgBrush } from './brush.js';
import { layoutOf } from './heights.js';
import { Pipeline } from './pipeline.js';
import type { DrawnPicture, PictureRequest } from './request.js';
import { type CanvasPackage, surroundWith } from './surroundings.js';
import { TrackPainter } from './track-painter.js';
import { readTracks } from './tracks.js';

export type { CanvasPackage, DrawnPicture, PictureRequest };

/** What there is at least beside the labels, pixels: the drawing code bounds them so. */
const MIN_PLOT = 80;

/**
 * @throws UscopeError READER_NAME: no core of that name; codes of the reader where nothing of the trace can be read
 * @throws the reason of the signal
 */
export async function drawPicture(request: PictureRequest, canvases: CanvasPackage): Promise<DrawnPicture> {
  surroundWith(canvases);
  const { trace, name, core, width, height } = request;
  const session = await Session.open(trace, name, { core, clock: null });
  const hasCore = session.info.core >= 0;
  const tracks = tracksOf(session.info).filter((id) => isPanelShown(DEFAULT_LAYOUT, id, hasCore));
  const layout = layoutOf(height, tracks, hasCore);
  const line = 1;
  const pipeline = new Pipeline(
    session,
    settingsOf(request),
    {
      rows: canvases.createCanvas(width, layout.rows - (hasCore ? 0 : line)),
      overview: canvases.createCanvas(width, layout.overview - line),
    },
    request.notes,
  );
  try {
    await pipeline.show(request.cycles, request.signal);
    const column = new Column(session, request, canvases, pipeline);
    await column.paintPipeline(layout.overview);
    await column.paintTracks(tracks, layout.overview + layout.rows, layout.tracks);
    return { bytes: await column.finish(), problems: distinct([...pipeline.problems, ...column.problems]) };
  } finally {
    pipeline.close();
  }
}

function settingsOf({ theme, form, gutter = DEFAULT_SETTINGS.gutter, width }: PictureRequest): Settings {
  return { ...DEFAULT_SETTINGS, theme, form, gutter: Math.min(gutter, width - MIN_PLOT) };
}

/** The same damage is met by all that read it. */
const distinct = (problems: readonly Problem[]): Problem[] => [
  ...new Map(problems.map((one) => [`${one.code} ${one.what}`, one])).values(),
];

/** The parts of the picture, from above. */
class Column {
  readonly problems: Problem[] = [];
  private readonly theme: ReturnType<typeof themeOf>;
  private readonly brush: Brush;
  private readonly tracks: TrackPainter;

  constructor(
    private readonly session: Session,
    private readonly request: PictureRequest,
    canvases: CanvasPackage,
    private readonly pipeline: Pipeline,
  ) {
    const { width, height, kind } = request;
    const settings = settingsOf(request);
    this.theme = themeOf(settings);
    this.brush =
      kind === 'png'
        ? pngBrush(canvases, width, height)
        : svgBrush(canvases, width, height, () => pipeline.svg());
    this.tracks = new TrackPainter(this.brush, canvases, this.theme, settings.gutter);
    fillBox(this.brush, this.theme.background, { x: 0, y: 0, width, height });
  }

  finish(): Promise<Uint8Array> {
    return this.brush.finish();
  }

  /** With the overview above it. */
  async paintPipeline(top: number): Promise<void> {
    const { brush, theme, request } = this;
    const { width } = request;
    const { rows, overview } = this.pipeline.canvases;
    brush.canvas(overview, { x: 0, y: 0, width, height: overview.height });
    if (this.session.info.core < 0) await this.paintEvents(overview.height);
    fillBox(brush, theme.gridStrong, { x: 0, y: overview.height, width, height: 1 });
    this.frameOfView(overview.height);
    fillBox(brush, theme.gridStrong, { x: 0, y: top + rows.height, width, height: 1 });
    await brush.rows(rows, { x: 0, y: top, width, height: rows.height });
  }

  async paintTracks(
    ids: ReturnType<typeof tracksOf>,
    top: number,
    heights: readonly number[],
  ): Promise<void> {
    const { view } = this.pipeline;
    const { tracks, problems } = await readTracks(this.session, view, ids, this.theme);
    this.problems.push(...problems);
    let end = top;
    tracks.forEach((track, index) => {
      const y = Math.round(end);
      end += heights[index]!;
      this.tracks.paint(track, view, { x: 0, y, width: this.request.width, height: Math.round(end) - y });
    });
  }

  /** All of the run in the width. */
  private get run(): TimeView {
    const { info, lastCycle } = this.session;
    const { width } = this.request;
    const first = info.segmentCycles[0] ?? 0;
    return { x: first, scale: width / Math.max(1, lastCycle - first), width, ratio: 1 };
  }

  /** What of the run is shown below. */
  private frameOfView(height: number): void {
    const { brush, run } = this;
    const { accent } = this.theme;
    const { view } = this.pipeline;
    const within = (x: number): number => Math.max(0, Math.min(run.width, x));
    const left = within(xOf(run, view.x));
    const width = Math.max(3, within(xOf(run, endOf(view))) - left);
    brush.paint.globalAlpha = 0.18;
    fillBox(brush, accent, { x: left, y: 0, width, height });
    brush.paint.globalAlpha = 1;
    for (const x of [left, left + width - 1]) fillBox(brush, accent, { x, y: 0, width: 1, height });
    for (const y of [0, height - 1]) fillBox(brush, accent, { x: left, y, width, height: 1 });
  }

  /** Without a pipeline the overview counts events. */
  private async paintEvents(height: number): Promise<void> {
    const { session, run, theme } = this;
    const events = session.info.schema.events.map(({ eventTypeId }) => eventTypeId);
    const args = overviewWindow(events, run.x, session.lastCycle, run.width);
    if (!args) return;
    try {
      const found = await askWindow(args, session, new AbortController().signal);
      const lanes = new LaneCanvas(run.width, height, run, theme);
      drawEventOverview(lanes, found.events);
      this.tracks.paintLanes(lanes, { x: 0, y: 0, width: run.width, height });
    } catch (error) {
      this.problems.push(describeProblem(error));
    }
  }
}
