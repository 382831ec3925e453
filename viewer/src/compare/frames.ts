/**
 * Two viewers in frames, which show the same place of the program. The one that the user touched last leads; the other one follows it.
 */
import type { SceneState } from '../drawing/protocol.js';
import { SharedSpan } from '../framed/shared-span.js';
import { hookOf, shareSettings } from '../framed/viewer-hook.js';
import type { View } from '../model/view.js';
import type { Side } from './costs.js';
import type { Pairs } from './pairs.js';
import type { Alignment } from './store.js';

/** Where in the picture the two are brought to the same height, in parts of it. */
const ANCHOR = 1 / 3;
const other = (side: Side): Side => (side === 'a' ? 'b' : 'a');

interface Shown {
  readonly view: View;
  readonly selectedRow: number | null;
  readonly form: string;
}

interface FramesOptions {
  readonly pairs: Pairs;
  readonly alignment: () => Alignment;
  /** Called with the row of A at the anchor when the pictures have moved; null: they show no rows. */
  readonly moved: (rowA: number | null) => void;
}

export class Frames {
  private leader: Side = 'a';
  /** Of the leader, as the follower has it. */
  private known: Shown | null = null;
  private knownSettings = '';
  /** Cycles are compared with cycles. */
  private readonly span = new SharedSpan(() => 1);
  private timer = 0;

  constructor(
    private readonly frames: Readonly<Record<Side, HTMLIFrameElement>>,
    private readonly options: FramesOptions,
  ) {
    const look = (): void => {
      this.look();
      this.timer = requestAnimationFrame(look);
    };
    look();
  }

  close(): void {
    cancelAnimationFrame(this.timer);
  }

  /** The user touches the picture of this run. */
  touch(side: Side): void {
    if (side === this.leader) return;
    this.leader = side;
    this.known = this.shown(side);
  }

  /** Selects a row of a run and brings it into sight; the other run follows. */
  show(side: Side, row: number): void {
    this.touch(side);
    const hook = hookOf(this.frames[side]);
    hook?.run({ do: 'goRow', row });
    hook?.run({ do: 'select', row });
  }

  /** Brings the follower to where the leader is, after what decides where that is has changed. */
  align(): void {
    this.known = null;
  }

  private look(): void {
    this.span.share(Object.values(this.frames));
    this.shareStages();
    this.shareSettings();
    const shown = this.shown(this.leader);
    if (!shown || isSame(shown, this.known)) return;
    if (this.lead(this.leader, shown)) this.known = shown;
  }

  /** A stage has one colour in both pictures, also where one of the cores has a stage that the other lacks. */
  private shareStages(): void {
    const hooks = [hookOf(this.frames.a), hookOf(this.frames.b)];
    const infos = hooks.map((hook) => hook?.info() ?? null);
    if (infos.includes(null)) return;
    const order = [...new Set(infos.flatMap((info) => info?.cores[info.core]?.stages ?? []))];
    for (const hook of hooks)
      if (hook?.settings().stages.join('\n') !== order.join('\n')) hook?.orderStages(order);
  }

  /** How the leader draws, the follower draws too. */
  private shareSettings(): void {
    const [from, to] = [this.frames[this.leader], this.frames[other(this.leader)]].map(hookOf);
    if (!from?.state() || !to?.state()) return;
    const settings = JSON.stringify(from.settings());
    if (settings === this.knownSettings) return;
    const isFirst = this.knownSettings === '';
    this.knownSettings = settings;
    if (isFirst && settings === JSON.stringify(to.settings())) return;
    shareSettings(this.frames[this.leader], this.frames[other(this.leader)]);
  }

  private shown(side: Side): Shown | null {
    const state = hookOf(this.frames[side])?.state();
    return state ? { view: state.view, selectedRow: state.selectedRow, form: state.form } : null;
  }

  /** @returns false: the follower shows nothing yet */
  private lead(side: Side, shown: Shown): boolean {
    const hook = hookOf(this.frames[other(side)]);
    const state = hook?.state();
    if (!hook || !state) return false;
    const view = this.viewFor(side, shown, state);
    if (view) hook.run({ do: 'view', view, selected: this.selectionFor(side, shown.selectedRow) });
    if (view && this.options.alignment() === 'cycle') hook.run({ do: 'return' });
    this.options.moved(this.anchorRow(side, shown));
    return true;
  }

  /** The view of the follower; null: it stays. */
  private viewFor(side: Side, { view, form, selectedRow }: Shown, state: SceneState): View | null {
    const { pairs, alignment } = this.options;
    const { scale, aspect } = view;
    if (alignment() === 'cycle') return { ...state.view, x: view.x, scale, aspect };
    const to = other(side) === 'a' ? 'A' : 'B';
    const from = to === 'A' ? 'B' : 'A';
    if (form === 'strip') {
      const x = pairs.map(`cycle${from}`, view.x, `cycle${to}`);
      return x === null ? null : { ...state.view, x, scale, aspect };
    }
    const anchor = this.anchor(view, selectedRow);
    const row = pairs.map(`row${from}`, anchor, `row${to}`);
    if (row === null) return null;
    const cycle = pairs.map(`row${from}`, anchor, `cycle${from}`)!;
    const shift = form === 'straight' ? 0 : pairs.map(`row${from}`, anchor, `cycle${to}`)! - cycle;
    return { x: view.x + shift, y: row - (anchor - view.y), scale, aspect };
  }

  private selectionFor(side: Side, row: number | null): number | null {
    if (row === null || this.options.alignment() === 'cycle') return null;
    const [from, to] = side === 'a' ? (['A', 'B'] as const) : (['B', 'A'] as const);
    const found = this.options.pairs.map(`row${from}`, row, `row${to}`);
    return found === null ? null : Math.round(found);
  }

  /** The row at which the two are at the same height: the selected one if it is on the screen. */
  private anchor(view: View, selectedRow: number | null): number {
    const rows = this.rowsOnScreen(view);
    const isVisible = selectedRow !== null && selectedRow >= view.y && selectedRow < view.y + rows;
    if (isVisible) return selectedRow;
    // Where squashed instructions are collapsed, a row is not a line: only the first one has a known height.
    const isEveryRow = hookOf(this.frames.a)?.settings().squashed !== 'collapse';
    return isEveryRow ? view.y + rows * ANCHOR : view.y;
  }

  private anchorRow(side: Side, { view, form, selectedRow }: Shown): number | null {
    const { pairs } = this.options;
    if (form === 'strip') return pairs.map(side === 'a' ? 'cycleA' : 'cycleB', view.x, 'rowA');
    const row = this.anchor(view, selectedRow);
    return side === 'a' ? row : pairs.map('rowB', row, 'rowA');
  }

  private rowsOnScreen({ scale, aspect }: View): number {
    return this.frames.a.clientHeight / Math.max(1e-6, Math.min(28, scale * aspect));
  }
}

function isSame(a: Shown, b: Shown | null): boolean {
  if (!b || a.selectedRow !== b.selectedRow || a.form !== b.form) return false;
  const near = (x: number, y: number): boolean => Math.abs(x - y) <= 1e-6 * Math.max(1, Math.abs(x));
  const { x, y, scale, aspect } = a.view;
  return near(x, b.view.x) && near(y, b.view.y) && near(scale, b.view.scale) && near(aspect, b.view.aspect);
}
