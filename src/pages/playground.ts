import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Html, html } from '../html/html.ts';
import { serveAssets } from './assets.ts';
import { chooseExamples } from './chooseExamples.ts';
import { forThisMachine, jsonElement, sessionSettings, storedOperationsNotice } from './explorer.ts';
import { contentSecurityPolicy, findPackage, type PageContext, renderPage, type ServedPage, sendPage } from './page.ts';

/** `/playground`: Altair, with the endpoint and an Authorization header for the token of this tab filled in; the demo is signed in. */
export async function createPlayground(context: PageContext): Promise<ServedPage> {
  // Importing its module, only to find its files, would take memory.
  const altair = findPackage('altair-static');
  const folder = join(altair.folder, 'build/dist');
  const assets = await serveAssets(context.site.basePath, 'altair', folder, isWanted);
  const body = new Html(bodyOfPage(await readFile(join(folder, 'index.html'), 'utf8')));
  const page = forThisMachine(context, (shown) =>
    sendPage(renderPlayground(shown, altair.version, assets.path, body), policy),
  );
  return { assets: assets.router, page };
}

function renderPlayground(context: PageContext, version: string, altairPath: string, body: Html): string {
  const { site, config, schema } = context;
  const { basePath, assetsPath } = site;
  return renderPage({
    ...site,
    madeWith: `Altair ${version}`,
    head: html`<base href="${altairPath}">
<link rel="stylesheet" href="${altairPath}styles.css">
<link rel="stylesheet" href="${assetsPath}playground.css">
${jsonElement('settings', {
  ...sessionSettings(context),
  altair: {
    baseURL: altairPath,
    initialName: 'Graph Query Service',
    initialQuery: chooseExamples(schema).app[0]?.query,
    initialHeaders: { Authorization: 'Bearer <ACCESS_TOKEN>' },
    // A token typed into the headers must not outlive the page.
    preserveState: false,
    // The account would be one with the makers of Altair.
    disableAccount: true,
  },
})}`,
    body: html`${storedOperationsNotice(config, site)}
<p class="subbar hint"><span id="token-hint">Without a token the service shows its schema only. Sign in with <a
href="${basePath}/graphiql">GraphiQL</a> in this tab, or put a token</span> in place of <code>&lt;ACCESS_TOKEN&gt;</code>
in the <button type="button" id="show-headers">HTTP headers</button>; <a href="${basePath}/documentations/graphql#token">how to get one</a>.</p>
${body}
<script type="module" src="${assetsPath}playground.js"></script>`,
  });
}

/** Altair uses Angular, which writes its styles; its editor has workers; `<base>` finds its files. */
const policy = contentSecurityPolicy({
  'style-src': "'self' 'unsafe-inline'",
  'worker-src': "'self'",
  'base-uri': "'self'",
});

/** Without the frame for scripts around requests, which needs `eval`; playground.css hides their tabs. */
const isWanted = (file: string) => !file.startsWith('iframe-sandbox') && file !== 'index.html';

/** The body of Altair's own page: the element that it fills, and its scripts. */
function bodyOfPage(page: string): string {
  const body = /<body>(.*)<\/body>/s.exec(page)?.[1];
  if (body === undefined) throw new Error('altair-static has another page than this version of the service knows.');
  return body;
}
