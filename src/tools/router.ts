import { fileURLToPath } from 'node:url';
import { Router } from 'express';
import type { Config } from '../config.ts';
import { serveAssets } from './assets.ts';
import type { DemoAccess } from './demo.ts';
import { createGraphiql } from './graphiql.ts';
import { createPlayground } from './playground.ts';
import type { Site } from './site.ts';

export type ToolsContext = {
  config: Config;
  /** The specification's `{base_url}`. */
  url: string;
  /** Null without the demo organization. */
  demo: DemoAccess | null;
};

/** The explorers beside the API; everything that they load comes from here. */
export async function createToolsRouter({ config, url, demo }: ToolsContext): Promise<Router> {
  const router = Router();
  if (!config.explorers) return router;

  const basePath = new URL(url).pathname.replace(/\/$/, '');
  const assets = await serveAssets(basePath, 'pages', fileURLToPath(new URL('browser', import.meta.url)));
  const site: Site = {
    url,
    basePath,
    assetsPath: assets.path,
    links: [
      { href: `${basePath}/`, label: 'Home' },
      { href: `${basePath}/graphiql`, label: 'GraphiQL' },
      { href: `${basePath}/playground`, label: 'Playground' },
      { href: `${basePath}/documentations/graphql`, label: 'Documentation' },
    ],
  };
  const graphiql = await createGraphiql(site, config, demo);
  const playground = await createPlayground(site);

  router.use(assets.router, graphiql.assets, playground.assets);
  router.get('/graphiql', graphiql.page);
  router.get('/playground', playground.page);
  return router;
}
