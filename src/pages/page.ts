import type { RequestHandler, Router } from 'express';
import type { Pool } from 'pg';
import type { GraphQLSchema } from 'postgraphile/graphql';
import type { Config } from '../config.ts';
import { type Html, html, renderDocument } from '../html/html.ts';
import type { DemoAccess } from './demo.ts';
import { serviceVersion } from './package.ts';
import type { Link, Site } from './site.ts';
import type { WithOwner } from './why/createWhyRouter.ts';

/**
 * The entry of a page beside the API, which `EXPLORERS` switches on.
 * Its route, the route's label in metrics, its link in the bar, its card on the first page and its line in the startup banner derive from
 * it.
 */
export type Page = {
  readonly path: string;
  readonly title: string;
  /** On its card on the first page. */
  readonly description: string;
  readonly create: (context: PageContext) => Promise<ServedPage>;
};

export type PageContext = {
  readonly site: Site;
  readonly config: Config;
  /** Connections as the authenticator. */
  readonly pool: Pool;
  readonly schema: GraphQLSchema;
  /** Null without the demo organization. */
  readonly demo: DemoAccess | null;
  /** Null except for developers: on the demo's database, and not in production. */
  readonly withOwner: WithOwner | null;
};

/**
 * `assets` are the files of packages that the page uses.
 * `below` answers the paths below the page's own, each named by the parameter `part`.
 */
export type ServedPage = {
  readonly assets?: Router;
  readonly page: RequestHandler | RequestHandler[];
  readonly below?: RequestHandler[];
};

type Content = Pick<Site, 'title' | 'assetsPath' | 'links' | 'here'> & {
  /** The tool of the page with its version, shown beside that of the service. */
  readonly madeWith?: string;
  /** What is before everything else of the bar, for keyboards. */
  readonly first?: Html;
  readonly head?: Html;
  readonly body: Html;
};

/** A whole document: the bar that all pages share, and the content below it. */
export function renderPage({ title, assetsPath, links, here, madeWith, first, head, body }: Content): string {
  return renderDocument(
    title,
    html`<link rel="icon" href="${assetsPath}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${assetsPath}page.css">
${head}`,
    html`<header class="bar">
${first}<a class="brand" href="${links[0]?.href}"><img src="${assetsPath}icon.svg" alt="" width="20" height="20"> Graph Query Service</a>
<nav aria-label="Explorers">${links.slice(1).map((link) => renderLink(link, here))}</nav>
<span class="version">${[`v${serviceVersion}`, madeWith].filter(Boolean).join(' · ')}</span>
</header>
${body}`,
  );
}

const renderLink = ({ href, title }: Link, here: string) =>
  href === here ? html`<a href="${href}" aria-current="page">${title}</a> ` : html`<a href="${href}">${title}</a> `;
