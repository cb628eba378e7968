import { fileURLToPath } from 'node:url';
import { Router } from 'express';
import type { Pool } from 'pg';
import type { GraphQLSchema } from 'postgraphile/graphql';
import type { Config } from '../config.ts';
import { serveAssets } from './assets.ts';
import type { DemoAccess } from './demo.ts';
import { createDocumentation } from './documentation/createDocumentation.ts';
import { createGraphiql } from './graphiql.ts';
import { createHome } from './home.ts';
import { createPlayground } from './playground.ts';
import { requireSchemaAccess } from './schemaAccess.ts';
import { sendSchemaFile } from './schemaFile.ts';
import type { Site } from './site.ts';

export type ToolsContext = {
  config: Config;
  /** The specification's `{base_url}`. */
  url: string;
  /** Connections as the authenticator. */
  pool: Pool;
  schema: GraphQLSchema;
  /** Null without the demo organization. */
  demo: DemoAccess | null;
};

/** The pages beside the API; everything that they load comes from here. */
export async function createToolsRouter({ config, url, pool, schema, demo }: ToolsContext): Promise<Router> {
  const basePath = new URL(url).pathname.replace(/\/$/, '');
  const assets = await serveAssets(
    basePath,
    'pages',
    ['browser', '../html'].map((folder) => fileURLToPath(new URL(folder, import.meta.url))),
  );
  const site: Site = { url, basePath, assetsPath: assets.path, links: linksOf(basePath, config.explorers) };

  const router = Router();
  router.use(assets.router);
  router.get('/', createHome(site));
  router.get('/graphql/schema.graphql', requireSchemaAccess(config, pool), sendSchemaFile(schema));
  if (!config.explorers) return router;

  const graphiql = await createGraphiql(site, config, demo);
  const playground = await createPlayground(site, config);
  const documentation = createDocumentation(site, config, schema);
  router.use(graphiql.assets, playground.assets);
  router.get('/graphiql', graphiql.page);
  router.get('/playground', playground.page);
  router.get('/documentations/graphql', requireSchemaAccess(config, pool, documentation.gate), documentation.page);
  return router;
}

const linksOf = (basePath: string, explorers: boolean) => [
  { href: `${basePath}/`, label: 'Home' },
  ...(explorers
    ? [
        { href: `${basePath}/graphiql`, label: 'GraphiQL' },
        { href: `${basePath}/playground`, label: 'Playground' },
        { href: `${basePath}/documentations/graphql`, label: 'Documentation' },
      ]
    : []),
];
