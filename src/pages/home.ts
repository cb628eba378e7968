import type { RequestHandler } from 'express';
import { html } from '../html/html.ts';
import { contentSecurityPolicy } from './contentSecurityPolicy.ts';
import { renderPage } from './page.ts';
import { sendPage } from './sendPage.ts';
import type { Site } from './site.ts';

/** `/`: what this service is, and links to everything; it needs neither a script nor the explorers. */
export function createHome(site: Site): RequestHandler {
  const { url, basePath, assetsPath, links } = site;
  const facts: [string, string][] = [
    ['/graphql', 'The endpoint: queries, mutations and subscriptions by POST, with an access token'],
    ['/graphql/schema.graphql', 'The schema as a file, for client tools'],
    ['/.well-known/oauth-authorization-server', 'What the OAuth 2.0 server offers'],
    ['/.well-known/authzen-configuration', 'Where a door asks who may enter (AuthZEN)'],
    ['/healthz', 'Whether the process lives'],
    ['/readyz', 'Whether requests can be served'],
  ];
  const page = renderPage({
    ...site,
    head: html`<link rel="stylesheet" href="${assetsPath}home.css">`,
    body: html`<main>
<h1>Users, units and card assignments, as one graph</h1>
<p class="lead">A GraphQL interface at <code>${url}/graphql</code>, and the OAuth 2.0 server that protects it.</p>
<div class="explorers">${links.slice(1).map(
      ({ href, title, description }) => html`<a href="${href}"><b>${title}</b><span>${description}</span></a>
`,
    )}</div>
<dl>${facts.map(
      ([path, purpose]) => html`<dt>${
        path === '/graphql' ? html`<code>${path}</code>` : html`<a href="${basePath + path}"><code>${path}</code></a>`
      }</dt><dd>${purpose}</dd>
`,
    )}</dl>
</main>`,
  });
  return sendPage(page, contentSecurityPolicy());
}
