/** Which trace the page shows. */
import { untilMade } from './opening.js';
import { restart } from './start.js';
import { origin } from './store.js';

/** `?trace=URL`, else what the server that made this page wrote into it. */
export function openFromAddress(): void {
  const named = document.querySelector<HTMLMetaElement>('meta[name="uscope-trace"]')?.content;
  const asked = new URLSearchParams(location.search).get('trace');
  const address = asked || named;
  if (!address) return;
  const url = new URL(address, document.baseURI).href;
  const name = document.querySelector<HTMLMetaElement>('meta[name="uscope-name"]')?.content;
  const last = decodeURIComponent(new URL(url).pathname.split('/').at(-1) ?? url);
  const found = { url, name: (!asked && name) || last };
  const status = document.querySelector<HTMLMetaElement>('meta[name="uscope-status"]')?.content;
  if (asked || status === undefined) origin.value = found;
  else
    void untilMade(new URL(status, document.baseURI).href, found).then((isMade) => {
      if (isMade) origin.value = found;
    });
}

export function openFile(file: File): void {
  // The first one begins where the link leads.
  if (origin.value) restart(null);
  origin.value = { file, name: file.name };
}

/** Files dropped anywhere on the page, which shows that they may be. */
export function acceptDrops(): void {
  const { classList } = document.body;
  addEventListener('dragover', (event) => {
    event.preventDefault();
    classList.toggle('dropping', event.dataTransfer?.types.includes('Files'));
  });
  addEventListener('dragleave', ({ relatedTarget }) => {
    if (!relatedTarget) classList.remove('dropping');
  });
  addEventListener('drop', (event) => {
    event.preventDefault();
    classList.remove('dropping');
    const file = event.dataTransfer?.files[0];
    if (file) openFile(file);
  });
}
