import { fileURLToPath } from 'node:url';
import { type RequestHandler, Router } from 'express';
import Negotiator from 'negotiator';
import { printSchema } from 'postgraphile/graphql';
import { html } from '../html/html.ts';
import type { Handler } from '../http/middleware.ts';
import { compressed, serveAssets } from './assets.ts';
import {
  basePathOf,
  contentSecurityPolicy,
  type Page,
  type PageContext,
  renderPage,
  type Site,
  sendPage,
} from './page.ts';
import { requireSchemaAccess } from './schemaAccess.ts';

type PagesContext = Omit<PageContext, 'site'> & {
  /** The specification's `{base_url}`. */
  readonly url: string;
};

/** The pages beside the API, with all the files that they load. */
export async function createPagesRouter({ url, ...context }: PagesContext): Promise<Router> {
  const { config, pool, schema } = context;
  const basePath = basePathOf(url);
  const assets = await serveAssets(
    basePath,
    'pages',
    ['browser', '../html'].map((folder) => fileURLToPath(new URL(folder, import.meta.url))),
    (file) => !file.endsWith('.ts'),
  );
  const served = config.explorers ? pages : [];
  const links = [
    { href: `${basePath}/`, title: 'Home' },
    ...served.map(({ path, title, description }) => ({ href: basePath + path, title, description })),
  ];
  const siteAt = (path: string, title: string) => {
    return { url, basePath, assetsPath: assets.path, links, title, here: basePath + path };
  };

  const router = Router();
  router.use(assets.router);
  router.get('/', createHome(siteAt('/', 'Home')));
  // Plain text, which a browser shows.
  const sendSchema = compressed('txt', async () => Buffer.from(`${printSchema(schema)}\n`));
  router.get('/graphql/schema.graphql', requireSchemaAccess(config, pool), async (request, response) => {
    await sendSchema(request, response.set('Cache-Control', 'no-cache'));
  });
  for (const { path, title, create } of served) {
    const { assets, page, below } = await create({ ...context, site: siteAt(path, title) });
    if (assets) router.use(assets);
    router.get(path, page);
    if (below) router.get(`${path}/:part`, below);
  }
  return router;
}

/** `/`: what this service is, and links to everything; it needs neither a script nor the explorers. */
function createHome(site: Site): RequestHandler {
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

/**
 * The pages beside the API, in the order of the bar.
 * Each is imported when it is switched on, since a process without them needs only their addresses.
 */
export const pages: readonly Page[] = [
  {
    path: '/graphiql',
    title: 'GraphiQL',
    description: 'Write queries with completion, sign in, and run them',
    create: async (context) => (await import('./graphiql.ts')).createGraphiql(context),
  },
  {
    path: '/playground',
    title: 'Playground',
    description: 'Send requests with headers of your own',
    create: async (context) => (await import('./playground.ts')).createPlayground(context),
  },
  {
    path: '/documentations/graphql',
    title: 'Documentation',
    description: 'The types as a graph, a page for each, tokens, errors, limits',
    create: async (context) => (await import('./documentation/createDocumentation.ts')).createDocumentation(context),
  },
];

/**
 * Redirects a browser that opens `/graphql` to a page, by content negotiation (RFC 9110 section 12).
 * A client of the API is not redirected: it sends a query, or accepts JSON as readily.
 *
 * @param location of the page; null when it is off
 */
export function redirectBrowsers(location: string | null): Handler {
  return (request, response, next) => {
    const isOpened = request.method === 'GET' && !request.url?.includes('?');
    if (location === null || !isOpened || new Negotiator(request).mediaType(offered) !== 'text/html') return next();
    response.appendHeader('Vary', 'Accept');
    response.writeHead(303, { Location: location, 'Cache-Control': 'no-store', 'Content-Length': 0 }).end();
  };
}

const offered = ['application/json', 'application/graphql-response+json', 'text/html'];
