/** The thread that draws. */
import { threadScope } from '../model/thread-scope.js';
import type { SceneReport, SceneRequest } from './protocol.js';
import { Scene, type SceneStart } from './scene.js';

const scope = threadScope('drawing.js');
let scene: Scene | null = null;
const report = (message: SceneReport): void => scope.postMessage(message);

function take(data: SceneRequest): void {
  switch (data.type) {
    case 'start':
      start(data);
      break;
    case 'resize':
      scene?.resize(data.size, data.minimapSize);
      break;
    case 'settings':
      scene?.use(data.settings);
      break;
    case 'pointer':
      scene?.point(data.pointer);
      break;
    case 'places':
      scene?.place(data.places);
      break;
    case 'command':
      scene?.run(data.command);
      break;
    case 'hits':
      scene?.mark(data.rows, data.cycles);
      break;
    case 'hit':
      scene?.markHit(data.cycle);
      break;
    case 'sources':
      scene?.note(data.texts);
      break;
    case 'picture':
      void picture(data.kind, data.id);
      break;
    case 'describe':
      report({ type: 'row', id: data.id, details: scene?.describe(data.row) ?? null });
  }
}

async function picture(kind: 'png' | 'svg', id: number): Promise<void> {
  try {
    const made = await scene?.picture(kind);
    if (!made) throw new Error('the trace is not open yet');
    report({ type: 'picture', id, picture: made });
  } catch (error) {
    report({ type: 'noPicture', id, message: (error as Error).message });
  }
}

function start(request: SceneStart): void {
  try {
    scene = new Scene(request, report);
    for (const canvas of [request.canvas, request.minimap]) watch(canvas);
    // For tests.
    Object.assign(globalThis, {
      __uscope: { ...(globalThis as { __uscope?: object }).__uscope, canvas: request.canvas },
    });
  } catch (error) {
    report({ type: 'problem', message: String((error as Error).message) });
  }
}

/** A browser takes the memory of a canvas away where it has too little, or when its graphics process has died. */
function watch(canvas: OffscreenCanvas): void {
  canvas.addEventListener('contextlost', () => report({ type: 'canvas', isLost: true }));
  canvas.addEventListener('contextrestored', () => {
    scene?.redraw();
    report({ type: 'canvas', isLost: false });
  });
}

scope.onmessage = ({ data }: MessageEvent<SceneRequest>) => take(data);
