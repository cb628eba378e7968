import { scopes, scopesByRank } from '../token/scopes.ts';
import { kindOf } from './chooseExamples.ts';
import { demoPrincipals } from './demo.ts';
import type { PageContext } from './page.ts';

/** What a page's scripts need to sign in and to send requests; null stands for what only developers get. */
export const sessionSettings = ({ site: { url, basePath }, config, demo, withOwner }: PageContext) => ({
  issuer: url,
  endpoint: `${basePath}/graphql`,
  oauthPath: `${basePath}/oauth`,
  whyPath: withOwner && `${basePath}/graphiql/why`,
  publicIntrospection: config.publicIntrospection,
  scopes: scopesByRank.map((name) => {
    const { role, forbidden } = scopes[name];
    return { name, kind: kindOf(name), role, forbidden };
  }),
  demo: demo && demoPrincipals(demo),
});
