import { fileURLToPath } from 'node:url';
import { Router } from 'express';
import { printSchema } from 'postgraphile/graphql';
import { serveAssets } from './assets.ts';
import { compressed } from './compressed.ts';
import { createHome } from './home.ts';
import type { PageContext } from './page.ts';
import { pages } from './pages.ts';
import { requireSchemaAccess } from './schemaAccess.ts';
import { basePathOf } from './site.ts';

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
