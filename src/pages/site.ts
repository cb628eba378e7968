import type { Link } from './page.ts';

/** What the pages share. */
export type Site = {
  /** The specification's `{base_url}`. */
  readonly url: string;
  /** The path of the base URL, without a slash at its end: what a proxy may have put before ours. */
  readonly basePath: string;
  /** Where the files of `browser` are served. */
  readonly assetsPath: string;
  /** The home page and the explorers. */
  readonly links: readonly Link[];
};
