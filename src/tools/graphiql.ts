import { join } from 'node:path';
import type { RequestHandler } from 'express';
import { serveAssets } from './assets.ts';
import { contentSecurityPolicy } from './contentSecurityPolicy.ts';
import { html, jsonElement } from './html.ts';
import { findPackage } from './package.ts';
import { renderPage } from './page.ts';
import { sendPage } from './sendPage.ts';
import type { Site } from './site.ts';

/** `/graphiql`: Ruru, PostGraphile's edition of GraphiQL, below a panel that gets tokens. */
export async function createGraphiql({ basePath, assetsPath, links }: Site) {
  const ruru = findPackage('ruru');
  // Its source maps are four times as large as all the rest.
  const assets = await serveAssets(basePath, 'ruru', join(ruru.folder, 'static'), (file) => !file.endsWith('.map'));
  const settings = { endpoint: `${basePath}/graphql`, ruruPath: assets.path };

  const page = renderPage({
    title: 'GraphiQL',
    assetsPath,
    links,
    here: `${basePath}/graphiql`,
    madeWith: `Ruru ${ruru.version}`,
    head: html`<link rel="stylesheet" href="${assets.path}ruru.css">
<link rel="stylesheet" href="${assetsPath}graphiql.css">
<link rel="modulepreload" href="${assets.path}ruru.js">
${jsonElement('settings', settings)}
<script type="module" src="${assetsPath}graphiql.js"></script>`,
    body: html`<main id="ruru-root"></main>`,
  });
  return { assets: assets.router, page: sendPage(page, policy) satisfies RequestHandler };
}

/** GraphiQL's editor, Monaco, writes its styles into the page and works in workers. Neither needs `eval`. */
const policy = contentSecurityPolicy({ 'style-src': "'self' 'unsafe-inline'", 'worker-src': "'self'" });
