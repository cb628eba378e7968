import { join } from 'node:path';
import type { RequestHandler } from 'express';
import type { Config } from '../config.ts';
import { html } from '../html/html.ts';
import { serveAssets } from './assets.ts';
import { contentSecurityPolicy } from './contentSecurityPolicy.ts';
import { type DemoAccess, isFromThisMachine } from './demo.ts';
import { examples } from './examples.ts';
import { jsonElement } from './jsonElement.ts';
import { findPackage } from './package.ts';
import { renderPage } from './page.ts';
import { sendPage } from './sendPage.ts';
import type { Site } from './site.ts';
import { storedOperationsNotice } from './storedOperationsNotice.ts';

/**
 * `/graphiql`: Ruru, PostGraphile's edition of GraphiQL, below a panel that gets tokens.
 * With the demo it is signed in from the start, for the user of this machine.
 */
export async function createGraphiql(site: Site, config: Config, demo: DemoAccess | null) {
  const ruru = findPackage('ruru');
  // Its source maps are four times as large as all the rest.
  const assets = await serveAssets(
    site.basePath,
    'ruru',
    join(ruru.folder, 'static'),
    (file) => !file.endsWith('.map'),
  );
  const tool = { version: ruru.version, path: assets.path };
  const sendAnonymous = sendPage(renderGraphiql(site, config, tool, null), policy);
  const sendDemo = demo && sendPage(renderGraphiql(site, config, tool, demo), policy);

  const page: RequestHandler = (request, response, next) =>
    (sendDemo && isFromThisMachine(config, request) ? sendDemo : sendAnonymous)(request, response, next);
  return { assets: assets.router, page };
}

/** GraphiQL's editor, Monaco, writes its styles into the page and works in workers, without `eval`. */
const policy = contentSecurityPolicy({ 'style-src': "'self' 'unsafe-inline'", 'worker-src': "'self'" });

function renderGraphiql(
  site: Site,
  config: Config,
  ruru: { version: string; path: string },
  demo: DemoAccess | null,
): string {
  const { url, basePath, assetsPath, links } = site;
  const { publicIntrospection, database } = config;
  return renderPage({
    title: 'GraphiQL',
    assetsPath,
    links,
    here: `${basePath}/graphiql`,
    madeWith: `Ruru ${ruru.version}`,
    head: html`<link rel="stylesheet" href="${ruru.path}ruru.css">
<link rel="stylesheet" href="${assetsPath}graphiql.css">
<link rel="modulepreload" href="${ruru.path}ruru.js">
${jsonElement('settings', {
  issuer: url,
  endpoint: `${basePath}/graphql`,
  oauthPath: `${basePath}/oauth`,
  ruruPath: ruru.path,
  publicIntrospection,
  examples,
  demo: demo && { clientId: 'demo-backend', clientSecret: demo.clientSecret },
})}
<script type="module" src="${assetsPath}graphiql.js"></script>`,
    body: html`${storedOperationsNotice(config, site)}
<section class="panel" aria-label="Access token and examples">
<div id="examples" role="group" aria-label="Example queries"></div>
<p id="status"><b id="token-kind"></b> <span id="token-scopes"></span> <span id="token-expiry"></span></p>
<div class="actions">
<button type="button" id="refresh" hidden>Refresh</button>
<button type="button" id="sign-out" hidden>Sign out</button>
<button type="button" id="sign-in" class="primary"></button>
</div>
<p id="notice" role="status" hidden></p>
</section>
<dialog id="sign-in-dialog" aria-labelledby="dialog-title">
<header><h1 id="dialog-title">Get an access token</h1><button type="button" id="close-dialog" aria-label="Close">×</button></header>
<p id="sign-in-problem" role="alert"></p>
<form id="application-form">
<h2>As an application</h2>
<p>Reads all of its organization’s users and units, and changes users: <code>app</code> and the mutations.</p>
<label>Client id <input name="client_id" required autocomplete="off" spellcheck="false" value="${demo && 'demo-backend'}"></label>
<label>Client secret <input name="client_secret" type="password" required autocomplete="off" value="${demo?.clientSecret}"></label>
<button class="primary">Sign in as an application</button>
</form>
<form id="user-form">
<h2>As a user</h2>
<p>Sees what one person may see: <code>viewer</code>. You sign in on the service’s own page and come back here.</p>
<label>Client id <input name="client_id" required autocomplete="off" spellcheck="false" value="${
      database.kind === 'embedded' ? 'demo-graphiql' : ''
    }"></label>
${
  demo
    ? html`<p class="hint">The demo’s user: <code>ada@demo.test</code>, password <code>${demo.password}</code></p>`
    : html`<p class="hint">An application with scope <code>me</code> that lists <code>${url}/graphiql</code> among its redirect URIs.</p>`
}
<button class="primary">Continue to the sign-in page</button>
</form>
<p class="hint">The token stays in this tab and goes nowhere but to this service.</p>
</dialog>
<main id="ruru-root"></main>`,
  });
}
