import { join } from 'node:path';
import { type RequestHandler, Router } from 'express';
import { html } from '../html/html.ts';
import { scopes, scopesByRank } from '../token/scopes.ts';
import { serveAssets } from './assets.ts';
import { chooseExamples, kindOf } from './chooseExamples.ts';
import { contentSecurityPolicy } from './contentSecurityPolicy.ts';
import { type DemoAccess, isFromThisMachine } from './demo.ts';
import { jsonElement } from './jsonElement.ts';
import { findPackage } from './package.ts';
import { type PageContext, renderPage, type ServedPage } from './page.ts';
import { sendPage } from './sendPage.ts';
import { storedOperationsNotice } from './storedOperationsNotice.ts';
import { createWhyRouter } from './why/createWhyRouter.ts';

/**
 * `/graphiql`: Ruru, PostGraphile's edition of GraphiQL, below a panel that gets tokens.
 * With the demo, the user of this machine is signed in from the start.
 */
export async function createGraphiql(context: PageContext): Promise<ServedPage> {
  const { site, config, demo, withOwner } = context;
  const ruru = findPackage('ruru');
  // Its source maps are four times as large as everything else.
  const isWanted = (file: string) => !file.endsWith('.map');
  const assets = await serveAssets(site.basePath, 'ruru', join(ruru.folder, 'static'), isWanted);
  const render = (access: DemoAccess | null) =>
    sendPage(
      renderGraphiql({ ...context, demo: access, withOwner: access && withOwner }, ruru.version, assets.path),
      policy,
    );
  const sendAnonymous = render(null);
  const sendDemo = demo && render(demo);

  const page: RequestHandler = (request, response, next) =>
    (sendDemo && isFromThisMachine(config, request) ? sendDemo : sendAnonymous)(request, response, next);
  // What only the scripts of this page ask is beside its files.
  const router = Router().use(assets.router);
  if (withOwner) router.use(createWhyRouter({ ...context, withOwner }));
  return { assets: router, page };
}

/** GraphiQL's editor, Monaco, writes its styles into the page and works in workers, without `eval`. */
const policy = contentSecurityPolicy({ 'style-src': "'self' 'unsafe-inline'", 'worker-src': "'self'" });

function renderGraphiql(context: PageContext, version: string, ruruPath: string): string {
  const { site, config, schema, demo, withOwner } = context;
  const { url, basePath, assetsPath, here } = site;
  const { publicIntrospection, database } = config;
  return renderPage({
    ...site,
    madeWith: `Ruru ${version}`,
    head: html`<link rel="stylesheet" href="${ruruPath}ruru.css">
<link rel="stylesheet" href="${assetsPath}graphiql.css">
<link rel="modulepreload" href="${ruruPath}ruru.js">
${jsonElement('settings', {
  issuer: url,
  endpoint: `${basePath}/graphql`,
  oauthPath: `${basePath}/oauth`,
  ruruPath,
  whyPath: withOwner && `${basePath}/graphiql/why`,
  publicIntrospection,
  examples: chooseExamples(schema),
  scopes: scopesByRank.map((name) => ({ name, kind: kindOf(name), forbidden: scopes[name].forbidden })),
  demo: demo && { clientId: 'demo-backend', clientSecret: demo.clientSecret },
})}
<script type="module" src="${assetsPath}graphiql.js"></script>`,
    body: html`${storedOperationsNotice(config, site)}
<section class="subbar panel" aria-label="Access token and examples">
<div id="examples" role="group" aria-label="Example queries"></div>
<p id="status"><select id="token" aria-label="Active token"></select> <span id="token-scopes"></span> <span id="token-expiry"></span></p>
<div class="actions">
<button type="button" id="copy" title="The request in the editor as a command for a shell, with the active token in it">Copy as curl</button>
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
    : html`<p class="hint">An application with scope <code>me</code> that lists <code>${new URL(here, url).href}</code> among its redirect URIs.</p>`
}
<button class="primary">Continue to the sign-in page</button>
</form>
<p class="hint">Tokens stay in this tab and go nowhere but to this service.</p>
</dialog>
<main id="ruru-root"></main>`,
  });
}
