import { join } from 'node:path';
import { type GraphQLSchema, introspectionFromSchema } from 'postgraphile/graphql';
import type { Config } from '../../config.ts';
import { html } from '../../html/html.ts';
import { serveAssets } from '../assets.ts';
import { contentSecurityPolicy } from '../contentSecurityPolicy.ts';
import { jsonElement } from '../jsonElement.ts';
import { findPackage } from '../package.ts';
import { renderPage } from '../page.ts';
import { sendPage } from '../sendPage.ts';
import type { Site } from '../site.ts';
import { renderErrors } from './errorSection.ts';
import { renderContents, renderSchema } from './schemaSection.ts';
import { renderTokens } from './tokenSection.ts';

/**
 * `/documentations/graphql`: the schema in a diagram and in writing, tokens, error codes, limits.
 *
 * @returns with `gate` the page for those who may not read the schema yet: it asks for a token and fetches the other
 */
export async function createDocumentation(site: Site, config: Config, schema: GraphQLSchema) {
  const { url, basePath, assetsPath, links } = site;
  const voyager = findPackage('graphql-voyager');
  const assets = await serveAssets(basePath, 'voyager', join(voyager.folder, 'dist'), isWanted);
  const frame = {
    title: 'Documentation',
    assetsPath,
    links,
    here: `${basePath}/documentations/graphql`,
    madeWith: `Voyager ${voyager.version}`,
    head: html`<link rel="stylesheet" href="${assets.path}voyager.css">
<link rel="stylesheet" href="${assetsPath}documentation.css">
<script src="${assets.path}voyager.standalone.js" defer></script>
<script type="module" src="${assetsPath}documentation.js"></script>`,
  };
  const introspection = introspectionFromSchema(schema, { schemaDescription: true, inputValueDeprecation: true });

  const page = renderPage({
    ...frame,
    body: html`<main>
<div id="graph" role="img" aria-label="The types of the schema as a graph; they are the same as in the text below"></div>
<div class="written">
<nav class="contents" aria-label="Contents">
<a href="#token">Access tokens</a>
<a href="#requests">Requests</a>
${renderContents(schema)}
<a href="#errors">Errors</a>
<a href="#limits">Limits</a>
<a href="${basePath}/graphql/schema.graphql">schema.graphql</a>
</nav>
<div>
<h1>The graph and its API</h1>
<p class="lead">Users, units and card assignments of an organization over GraphQL, at <code>${url}/graphql</code>.</p>
${renderTokens(url)}
${renderSchema(schema)}
${renderErrors(config)}
</div>
</div>
</main>
${jsonElement('introspection', { data: introspection })}`,
  });
  const gate = renderPage({
    ...frame,
    body: html`<main class="gate">
<h1>The schema is not public</h1>
<p>This service shows its schema to holders of an access token. Sign in with <a href="${basePath}/graphiql">GraphiQL</a> in this
tab and come back, or put a token here.</p>
<form id="token-form"><label>Access token <input name="token" required autocomplete="off" spellcheck="false"></label>
<button>Show the documentation</button></form>
<p id="problem" role="alert"></p>
</main>`,
  });
  return { assets: assets.router, page: sendPage(page, policy), gate: sendPage(gate, policy) };
}

/** Voyager's needs: Graphviz is WebAssembly, works in a worker of a blob, and writes its styles. */
const policy = contentSecurityPolicy({
  'script-src': "'self' 'wasm-unsafe-eval'",
  'worker-src': 'blob:',
  'style-src': "'self' 'unsafe-inline'",
});

/** The file that brings all that it needs, not the one for bundlers. */
const isWanted = (file: string) => file === 'voyager.standalone.js' || file === 'voyager.css';
