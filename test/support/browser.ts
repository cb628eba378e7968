import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, chromium, type Page, type Request } from 'playwright-core';
import { until } from './until.ts';

/**
 * Chromium from a package, which reaches no other host than this machine. `CHROMIUM_PATH` names another one, for
 * processors that the package is not made for.
 */
export async function launchBrowser(): Promise<Browser> {
  const folder = await unpackChromium();
  return chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? join(folder, 'chromium'),
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
    },
    args: ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1', '--disable-gpu'],
  });
}

export type OpenPage = {
  readonly page: Page;
  /** Mistakes of the page: errors in the console, exceptions, and requests that fail or go to another service. */
  readonly problems: string[];
  /**
   * Resolves when no request has been under way for half a second: editors start their workers late, and leaving the page
   * would break off what is being loaded.
   */
  settled(): Promise<void>;
  /** Forgets cookies and everything stored, as in a new profile; what was loaded stays cached. */
  forget(): Promise<void>;
  close(): Promise<void>;
};

/** A page in a new profile: nothing is cached or stored. */
export async function openPage(
  browser: Browser,
  { baseUrl, width, colorScheme = 'light' }: { baseUrl: string; width: number; colorScheme?: 'light' | 'dark' },
): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`thrown: ${error.stack ?? error.message}`));
  const { settled, isWorkerScript } = followRequests(page);
  let isLeaving = false;
  context.on('requestfailed', (request) => {
    const { errorText } = request.failure() ?? {};
    if (errorText !== 'net::ERR_ABORTED' || !(isLeaving || isWorkerScript(request)))
      problems.push(`failed: ${request.url()} ${errorText}`);
  });
  context.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.status()}: ${response.url()}`);
  });
  context.on('request', (request) => {
    if (!isOf(baseUrl, request.url())) problems.push(`foreign: ${request.url()}`);
  });
  const forget = async () => {
    // From a page without scripts, since an explorer stores its state when it is left. What it still loads is broken off.
    isLeaving = true;
    await page.goto(baseUrl);
    isLeaving = false;
    await context.clearCookies();
    await page.evaluate(`(async () => {
      localStorage.clear();
      sessionStorage.clear();
      for (const { name } of await indexedDB.databases()) indexedDB.deleteDatabase(name);
    })()`);
  };
  return { page, problems, settled, forget, close: () => context.close() };
}

function isOf(baseUrl: string, url: string): boolean {
  const { protocol, origin } = new URL(url);
  return protocol === 'data:' || protocol === 'blob:' || origin === new URL(baseUrl).origin;
}

/** The requests in flight. Chromium does not always report the end of a worker's own script, which then counts as aborted. */
function followRequests(page: Page) {
  const underWay = new Set<Request>();
  const workerScripts = new Set<string>();
  let lastChange = Date.now();
  const end = (request: Request) => {
    underWay.delete(request);
    lastChange = Date.now();
  };
  page.on('request', (request) => {
    underWay.add(request);
    lastChange = Date.now();
  });
  page.on('requestfinished', end);
  page.on('requestfailed', end);
  page.on('worker', (worker) => {
    workerScripts.add(worker.url());
    for (const request of underWay) if (request.url() === worker.url()) end(request);
  });
  return {
    settled: () => until(() => underWay.size === 0 && Date.now() - lastChange > 500),
    isWorkerScript: (request: Request) => workerScripts.has(request.url()),
  };
}

/** @returns the folder that it is in, kept for the next run */
async function unpackChromium(): Promise<string> {
  const cache = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));
  const folder = join(cache, 'chromium');
  if (existsSync(folder)) return folder;

  await mkdir(cache, { recursive: true });
  const unpacked = await mkdtemp(`${folder}-`);
  const script = fileURLToPath(new URL('unpackChromium.ts', import.meta.url));
  await promisify(execFile)(process.execPath, [script], {
    env: { TMPDIR: unpacked, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' },
  });
  await writeFile(join(unpacked, 'fonts.conf'), fontsIn(folder));
  // Another test file may have been faster.
  await rename(unpacked, folder).catch(() => rm(unpacked, { recursive: true }));
  return folder;
}

/** Chromium ends itself when it finds no font at all; the package brings one. */
const fontsIn = (folder: string) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(folder, 'fonts')}</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${join(folder, 'fonts-cache')}</cachedir>
</fontconfig>
`;
