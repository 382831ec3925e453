/** The thread that draws. */
import type { SceneReport, SceneRequest } from './protocol.js';
import { Scene, type SceneStart } from './scene.js';

let scene: Scene | null = null;
const report = (message: SceneReport): void => postMessage(message);

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
    case 'describe':
      report({ type: 'row', id: data.id, details: scene?.describe(data.row) ?? null });
  }
}

function start(request: SceneStart): void {
  try {
    scene = new Scene(request, report);
  } catch (error) {
    report({ type: 'problem', message: String((error as Error).message) });
  }
}

addEventListener('message', ({ data }: MessageEvent<SceneRequest>) => take(data));
