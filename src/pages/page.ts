import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';
import type { RequestHandler, Router } from 'express';
import type { Pool } from 'pg';
import type { GraphQLSchema } from 'postgraphile/graphql';
import type { Config } from '../config.ts';
import { type Html, html, renderDocument } from '../html/html.ts';
import { compressed } from './assets.ts';
import type { DemoAccess } from './demo.ts';
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

/**
 * Answers with a page under its own Content-Security-Policy, uncached: it may hold a credential.
 *
 * @param page or what renders it, at its first request
 */
export function sendPage(page: string | (() => string), policy: string): RequestHandler {
  const send = compressed('html', async () => Buffer.from(typeof page === 'string' ? page : page()));
  return async (request, response) => {
    response.set({ 'Cache-Control': 'no-store', 'Content-Security-Policy': policy });
    await send(request, response);
  };
}

/**
 * The policy of a page: files of this service, no inline script, no `eval`, no frame.
 * Each of `relaxed` replaces the sources of one directive; its caller names the tool that needs it.
 */
export function contentSecurityPolicy(relaxed: Partial<Record<keyof typeof strict, string>> = {}): string {
  return Object.entries({ ...strict, ...relaxed })
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join('; ');
}

const strict = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'font-src': "'self' data:",
  'connect-src': "'self'",
  'worker-src': "'none'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

/** The facts about the service that a page shows: its addresses, and links to the other pages. */
export type Site = {
  /** The specification's `{base_url}`. */
  readonly url: string;
  /** The path of the base URL, without a slash at its end: the prefix that a proxy may have. */
  readonly basePath: string;
  /** Where the style sheets, scripts and the icon of `browser` are served. */
  readonly assetsPath: string;
  /** The first page, then the enabled ones; the bar marks the current page. */
  readonly links: readonly Link[];
  readonly title: string;
  readonly here: string;
};

type Link = { readonly href: string; readonly title: string; readonly description?: string };

/** The path of a base URL, without a slash at its end. */
export const basePathOf = (url: string): string => new URL(url).pathname.replace(/\/$/, '');

/** The version and the folder of an installed package. */
export function findPackage(name: string): { readonly version: string; readonly folder: string } {
  const file = findPackageJSON(name, import.meta.url);
  if (!file) throw new Error(`The package ${name} is not installed; run npm ci`);
  return { version: readVersion(file), folder: dirname(file) };
}

const serviceVersion = readVersion(new URL('../../package.json', import.meta.url));

function readVersion(file: string | URL): string {
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
