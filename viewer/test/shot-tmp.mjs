import { openSync, readSync, statSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { serveView } from '../../sdk/dist/view/server.js';

const [file, out, w, h, scheme, hash, script] = process.argv.slice(2);
const fd = openSync(file, 'r');
const size = statSync(file).size;
const server = await serveView({
  name: file.split('/').at(-1),
  size: async () => size,
  read: async (o, l) => {
    const b = Buffer.alloc(Math.min(l, size - o));
    readSync(fd, b, 0, b.length, o);
    return b;
  },
  version: async () => '1',
});
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
const page = await browser.newPage({ viewport: { width: +w, height: +h }, colorScheme: scheme });
page.on('console', (m) => m.type() === 'error' && console.log('CONSOLE', m.text()));
page.on('pageerror', (e) => console.log('ERR', e));
await page.goto(server.url + hash);
await page.waitForFunction(() => window.__uscope?.state()?.isSharp, null, { timeout: 60000 });
const t0 = Date.now();
if (script) await new Function('page', `return (async()=>{${script}})()`)(page);
await page.waitForTimeout(600);
await page.screenshot({ path: out });
console.log('done', Date.now() - t0);
await browser.close();
await server.close();
