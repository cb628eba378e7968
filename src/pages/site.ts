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

export type Link = { readonly href: string; readonly title: string; readonly description?: string };

/** The path of a base URL, without a slash at its end. */
export const basePathOf = (url: string): string => new URL(url).pathname.replace(/\/$/, '');
