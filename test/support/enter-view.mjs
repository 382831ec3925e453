// @ts-check
/** Lets tests and measurements into the pages of `uscope view`: their addresses have a code, which is good once. */

/** @typedef {{ readonly url: string, readonly headers: { readonly cookie: string } }} Entered */

/** As a script does it. @param {string} address as printed @returns {Promise<Entered>} the page's address, and what requests for all below it bring */
export async function enter(address) {
  const answer = await fetch(address);
  const [cookie] = answer.headers.get('set-cookie')?.split(';') ?? [];
  const [, place] = answer.headers.get('refresh')?.split('url=') ?? [];
  if (!cookie || !place) throw new Error(`${address} lets nobody in: ${answer.status}`);
  return { url: new URL(place, address).href, headers: { cookie } };
}

/**
 * As a browser does it. Waits for the page to which the address leads.
 * @param {import('playwright-core').Page} page @param {string} address @param {string} [below] goes on to this page, relative to that
 */
export async function openView(page, address, below) {
  await page.goto(address, { waitUntil: 'commit' });
  await page.waitForURL((url) => !url.searchParams.has('code'));
  if (below !== undefined) await page.goto(new URL(below, page.url()).href);
}
