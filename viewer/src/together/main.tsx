/** Starts the page of several traces. */
import { render } from 'preact';
import { App } from './app.js';
import { infos, journey, lanes, notice, problems, time, touched, traces } from './store.js';

const light = matchMedia('(prefers-color-scheme: light)');
const useTheme = (): void => {
  document.documentElement.dataset.theme = light.matches ? 'light' : 'dark';
};
light.addEventListener('change', useTheme);
useTheme();

if (traces.length === 0) {
  const what = 'The address of this page names no traces.';
  problems.value = [{ code: 'VIEW_NO_TRACE', what, advice: 'Open it from the list of uscope view DIR, or with ?trace=URL&trace=URL.', isFatal: true }];
}
document.title = `${traces.map(({ name }) => name).join(', ')} – µScope`;
const root = document.getElementById('app')!;
root.replaceChildren();
render(<App />, root);

/** For tests, and for users who drive the page from its console. */
Object.assign(window, {
  __together: {
    lanes,
    infos: () => [...infos.value.keys()],
    time: () => time.value,
    journey: () => journey.value,
    touched: () => touched.value,
    notice: () => notice.value,
  },
});
