import { join } from 'node:path';
import { Router } from 'express';
import { html } from '../html/html.ts';
import { serveAssets } from './assets.ts';
import { chooseExamples } from './chooseExamples.ts';
import { forThisMachine, jsonElement, sessionSettings, storedOperationsNotice } from './explorer.ts';
import { contentSecurityPolicy, findPackage, type PageContext, renderPage, type ServedPage, sendPage } from './page.ts';
import { createWhyRouter } from './why/createWhyRouter.ts';

/**
 * `/graphiql`: Ruru, PostGraphile's edition of GraphiQL, below a panel that gets tokens, shows their claims and runs examples.
 * With the demo, the user of this machine is signed in from the start, and may be anybody of the demo.
 */
export async function createGraphiql(context: PageContext): Promise<ServedPage> {
  const { site, withOwner } = context;
  const ruru = findPackage('ruru');
  // Its source maps are larger than everything else.
  const isWanted = (file: string) => !file.endsWith('.map');
  const assets = await serveAssets(site.basePath, 'ruru', join(ruru.folder, 'static'), isWanted);
  const page = forThisMachine(context, (shown) => sendPage(renderGraphiql(shown, ruru.version, assets.path), policy));
  // What only the scripts of this page ask is beside its files.
  const router = Router().use(assets.router);
  if (withOwner) router.use(createWhyRouter({ ...context, withOwner }));
  return { assets: router, page };
}

/** GraphiQL's editor, Monaco, writes its styles into the page and works in workers, without `eval`. */
const policy = contentSecurityPolicy({ 'style-src': "'self' 'unsafe-inline'", 'worker-src': "'self'" });

function renderGraphiql(context: PageContext, version: string, ruruPath: string): string {
  const { site, config, schema, demo, withOwner } = context;
  const { assetsPath } = site;
  return renderPage({
    ...site,
    madeWith: `Ruru ${version}`,
    head: html`<link rel="stylesheet" href="${ruruPath}ruru.css">
<link rel="stylesheet" href="${assetsPath}graphiql.css">
<link rel="stylesheet" href="${assetsPath}dialogs.css">
<link rel="modulepreload" href="${ruruPath}ruru.js">
${jsonElement('settings', {
  ...sessionSettings(context),
  ruruPath,
  examples: chooseExamples(schema),
})}
<script type="module" src="${assetsPath}graphiql.js"></script>`,
    body: html`${storedOperationsNotice(config, site)}
<section id="panel" class="subbar panel" aria-label="Access token and examples" inert>
<div id="status"><select id="token" aria-label="Active token"></select> <dl id="claims"></dl></div>
<div class="actions">
<select id="run-as" aria-label="Run as" title="Runs the query in the editor as another caller, too, and marks the differences"></select>
${withOwner && html`<button type="button" id="why" title="Which policy shows the object, or hides the null, at the cursor in the result">Why?</button>`}
<button type="button" id="copy" title="The request in the editor as a command for a shell, with the active token in it">Copy as curl</button>
<button type="button" id="refresh" hidden>Refresh</button>
<button type="button" id="sign-out" hidden>Sign out</button>
<button type="button" id="sign-in" class="primary"></button>
</div>
<div id="examples" role="group" aria-label="Example queries"></div>
<p id="notice" role="status" hidden></p>
</section>
${renderSignIn({ site, config, demo })}
<dialog id="comparison-dialog" aria-labelledby="comparison-title">
<header><h1 id="comparison-title"></h1><button type="button" class="close" aria-label="Close">×</button></header>
<p id="comparison-summary" role="status"></p>
<div id="comparison"></div>
${withOwner && html`<footer><button type="button" id="why-here" title="Which policy shows or hides the object at the cursor, for each of the two">Why?</button></footer>`}
</dialog>
<dialog id="why-dialog" aria-labelledby="why-title">
<header><h1 id="why-title">Why?</h1><button type="button" class="close" aria-label="Close">×</button></header>
<div id="reasons"></div>
</dialog>
<main id="ruru-root"></main>`,
  });
}

const renderSignIn = ({ site: { url, here }, config, demo }: Pick<PageContext, 'site' | 'config' | 'demo'>) =>
  html`<dialog id="sign-in-dialog" aria-labelledby="dialog-title">
<header><h1 id="dialog-title">Get an access token</h1><button type="button" class="close" aria-label="Close">×</button></header>
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
    config.database.kind === 'embedded' ? 'demo-graphiql' : ''
  }"></label>
${
  demo
    ? html`<p class="hint">The demo’s user: <code>ada@demo.test</code>, password <code>${demo.password}</code></p>`
    : html`<p class="hint">An application with scope <code>me</code> that lists <code>${new URL(here, url).href}</code> among its redirect URIs.</p>`
}
<button class="primary">Continue to the sign-in page</button>
</form>
<p class="hint">Tokens stay in this tab and go nowhere but to this service.</p>
</dialog>`;
