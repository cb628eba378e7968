/** What the service tells a page: about itself, about the others, and the page's own place among them. */
export type Site = {
  /** The specification's `{base_url}`. */
  readonly url: string;
  /** The path of the base URL, without a slash at its end: what a proxy may have put before ours. */
  readonly basePath: string;
  /** Where the style sheets, scripts and the icon of `browser` are served. */
  readonly assetsPath: string;
  /** The first page, then those that are on; the page itself is marked in the bar. */
  readonly links: readonly Link[];
  readonly title: string;
  readonly here: string;
};

export type Link = { readonly href: string; readonly title: string; readonly description?: string };

/** The path of a base URL, without a slash at its end. */
export const basePathOf = (url: string): string => new URL(url).pathname.replace(/\/$/, '');
