import { html } from '../../html/html.ts';
import { contentSecurityPolicy } from '../contentSecurityPolicy.ts';
import { type PageContext, renderPage, type ServedPage } from '../page.ts';
import { requireSchemaAccess } from '../schemaAccess.ts';
import { sendPage } from '../sendPage.ts';
import { renderDiagram } from './diagramSection.ts';
import { renderErrors } from './errorSection.ts';
import { renderContents, renderSchema } from './schemaSection.ts';
import { renderTokens } from './tokenSection.ts';

/**
 * `/documentations/graphql`: the schema as a diagram and in writing, with examples.
 * The page also has how to get a token, the error codes and the limits.
 */
export async function createDocumentation({ site, config, pool, schema }: PageContext): Promise<ServedPage> {
  const { url, basePath, assetsPath } = site;
  const frame = {
    ...site,
    head: html`<link rel="stylesheet" href="${assetsPath}documentation.css">
<script type="module" src="${assetsPath}documentation.js"></script>`,
  };
  const page = renderPage({
    ...frame,
    body: html`<main>
<header class="intro">
<h1>The graph and its API</h1>
<p class="lead">Users, units and card assignments of an organization over GraphQL, at <code>${url}/graphql</code>.</p>
</header>
${renderDiagram(schema)}
<div class="written">
<nav class="contents" aria-label="Contents">
<form role="search"><label for="search">Search</label>
<input id="search" type="search" placeholder="Type, field, section" autocomplete="off" spellcheck="false"></form>
<p id="found-count" role="status"></p>
<ul id="found"></ul>
<div id="contents">
<a href="#token">Access tokens</a>
<a href="#inspecting">Inspecting, revoking</a>
<a href="#requests">Requests</a>
${renderContents(schema)}
<a href="#errors">Errors</a>
<a href="#limits">Limits</a>
<a href="${basePath}/graphql/schema.graphql">schema.graphql</a>
</div>
</nav>
<div>
${renderTokens(url)}
${renderSchema(url, schema)}
${renderErrors(config)}
</div>
</div>
</main>`,
  });
  // For clients that may not read the schema yet: this page asks for a token and fetches the other one.
  const gate = renderPage({
    ...frame,
    body: html`<main class="gate">
<h1>The schema is not public</h1>
<p>This service shows its schema to holders of an access token. Sign in with <a href="${basePath}/graphiql">GraphiQL</a> in this
tab and come back, or put a token here.</p>
<form id="token-form"><label>Access token <input name="token" required autocomplete="off" spellcheck="false"></label>
<button class="primary">Show the documentation</button></form>
<p id="problem" role="alert"></p>
</main>`,
  });
  const policy = contentSecurityPolicy();
  return { page: [requireSchemaAccess(config, pool, sendPage(gate, policy)), sendPage(page, policy)] };
}
