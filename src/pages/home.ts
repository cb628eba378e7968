import type { RequestHandler } from 'express';
import { html } from '../html/html.ts';
import { contentSecurityPolicy } from './contentSecurityPolicy.ts';
import { renderPage } from './page.ts';
import { sendPage } from './sendPage.ts';
import type { Site } from './site.ts';

/** `/`: what this is and where everything is; without a script, and also without the explorers. */
export function createHome({ url, basePath, assetsPath, links }: Site): RequestHandler {
  const explorers = links.slice(1);
  const facts: [string, string][] = [
    ['/graphql', 'The endpoint: queries and mutations by POST, with an access token'],
    ['/graphql/schema.graphql', 'The schema as a file, for client tools'],
    ['/.well-known/oauth-authorization-server', 'What the OAuth 2.0 server offers'],
    ['/healthz', 'Whether the process lives'],
    ['/readyz', 'Whether requests can be served'],
  ];
  const page = renderPage({
    title: 'Home',
    assetsPath,
    links,
    here: `${basePath}/`,
    head: html`<link rel="stylesheet" href="${assetsPath}home.css">`,
    body: html`<main>
<h1>Users, units and card assignments, as one graph</h1>
<p class="lead">A GraphQL interface at <code>${url}/graphql</code>, and the OAuth 2.0 server that protects it.</p>
${
  explorers.length > 0
    ? html`<div class="explorers">${explorers.map(
        ({ href, label }) => html`<a href="${href}"><b>${label}</b><span>${purposes[label]}</span></a>
`,
      )}</div>`
    : ''
}
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

const purposes: Record<string, string> = {
  GraphiQL: 'Write queries with completion, sign in, and run them',
  Playground: 'Send requests with headers of your own',
  Documentation: 'The schema as a graph and in writing, tokens, errors, limits',
};
