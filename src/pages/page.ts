import { type Html, html } from '../html/html.ts';
import { serviceVersion } from './package.ts';

export type Page = {
  readonly title: string;
  /** Where the style sheets, scripts and the icon of this folder are. */
  readonly assetsPath: string;
  /** The explorers that can be opened, by their paths; the page itself is marked in the bar. */
  readonly links: readonly Link[];
  readonly here: string;
  /** What the page is made with, and its version, beside that of the service. */
  readonly madeWith?: string;
  readonly head?: Html;
  readonly body: Html;
};

export type Link = { readonly href: string; readonly label: string };

/** A whole document: the bar that all pages share, and what is below it. */
export function renderPage({ title, assetsPath, links, here, madeWith, head, body }: Page): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Graph Query Service</title>
<link rel="icon" href="${assetsPath}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${assetsPath}page.css">
${head}
</head>
<body>
<header class="bar">
<a class="brand" href="${links[0]?.href}"><img src="${assetsPath}icon.svg" alt="" width="20" height="20"> Graph Query Service</a>
<nav aria-label="Explorers">${links.slice(1).map((link) => renderLink(link, here))}</nav>
<span class="version">${[`v${serviceVersion}`, madeWith].filter(Boolean).join(' · ')}</span>
</header>
${body}
</body>
</html>
`.markup;
}

const renderLink = ({ href, label }: Link, here: string) =>
  href === here ? html`<a href="${href}" aria-current="page">${label}</a> ` : html`<a href="${href}">${label}</a> `;
