import type { RequestHandler } from 'express';
import type { Config } from '../config.ts';
import { Html, html } from '../html/html.ts';
import { scopes, scopesByRank } from '../token/scopes.ts';
import { kindOf } from './chooseExamples.ts';
import { demoPrincipals, isFromThisMachine } from './demo.ts';
import type { PageContext, Site } from './page.ts';

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

/** A notice above an editor that only stored operations are answered; null if all are. */
export function storedOperationsNotice({ persistedOperations }: Config, { basePath }: Site): Html | null {
  if (!persistedOperations) return null;
  return html`<p class="subbar notice">This service answers its stored operations only. Any other is refused, also that by which this page
asks for the schema; the <a href="${basePath}/documentations/graphql">documentation</a> shows it.</p>`;
}

/** Sends this machine the page with all of its context, and everybody else the page without the demo. */
export function forThisMachine(context: PageContext, create: (context: PageContext) => RequestHandler): RequestHandler {
  const [sendWhole, sendPublic] = [create(context), create({ ...context, demo: null, withOwner: null })];
  return (request, response, next) =>
    (isFromThisMachine(context.config, request) ? sendWhole : sendPublic)(request, response, next);
}

/** Data for a page's scripts. It is never executed, so that no policy has to allow inline scripts. */
export function jsonElement(id: string, data: unknown): Html {
  // Nothing in the data may end the element.
  const text = JSON.stringify(data).replaceAll('<', '\\u003c');
  return html`<script type="application/json" id="${id}">${new Html(text)}</script>`;
}
