import type { RequestHandler } from 'express';
import { type GraphQLNamedType, isEnumType, isIntrospectionType } from 'postgraphile/graphql';
import { errorCodes } from '../../graphql/errors.ts';
import { type Html, html } from '../../html/html.ts';
import { compressed } from '../assets.ts';
import { contentSecurityPolicy, type PageContext, renderPage, type ServedPage, sendPage } from '../page.ts';
import { requireSchemaAccess } from '../schemaAccess.ts';
import { createExamples } from './createExamples.ts';
import { fieldsOf } from './domain.ts';
import { readErrorGuide, renderErrorPage } from './errorPage.ts';
import { type Documentation, renderFrame, renderSearch } from './frame.ts';
import { renderMutationPage } from './mutationPage.ts';
import { firstSentence } from './render.ts';
import { renderStartPage } from './startPage.ts';
import { renderTokenPage } from './tokenPage.ts';
import { renderDirectivePage, renderTypePage } from './typePage.ts';

/**
 * `/documentations/graphql`: the schema as a diagram and in writing, a page for each type, with examples to run.
 * Each page is rendered when it is first asked for, since few of them are read.
 */
export async function createDocumentation({ site, config, pool, schema }: PageContext): Promise<ServedPage> {
  const { url, basePath, assetsPath, here: path } = site;
  const documentation: Documentation = {
    url,
    path,
    schema,
    config,
    graphiqlPath: `${basePath}/graphiql`,
    schemaPath: `${basePath}/graphql/schema.graphql`,
    examples: createExamples(schema),
  };
  const guide = await readErrorGuide();
  const policy = contentSecurityPolicy();
  const render = (title: string, body: Html, first?: Html) =>
    renderPage({
      ...site,
      title,
      ...(first && { first }),
      head: html`<link rel="stylesheet" href="${assetsPath}documentation.css">
<script type="module" src="${assetsPath}documentation.js"></script>`,
      body,
    });
  const send = (part: string, title: string, renderContent: () => Html) =>
    sendPage(() => render(title, renderFrame(documentation, part, renderContent()), renderSearch(path)), policy);

  const types = Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type));
  const mutationType = schema.getMutationType();
  const parts = new Map<string, RequestHandler>([
    ...types.map((type): [string, RequestHandler] => {
      const renderContent = () =>
        type === mutationType ? renderMutationPage(documentation) : renderTypePage(documentation, type);
      return [type.name, send(type.name, type.name, renderContent)];
    }),
    ['tokens', send('tokens', 'Access tokens', () => renderTokenPage(url))],
    ['errors', send('errors', 'Errors and limits', () => renderErrorPage(config, guide))],
    ['directives', send('directives', 'Directives', () => renderDirectivePage(documentation))],
    ['search.json', sendSearchIndex(documentation)],
  ]);
  const sendPart: RequestHandler = (request, response, next) => {
    const handler = parts.get(String(request.params.part));
    return handler ? handler(request, response, next) : next();
  };
  // For clients that may not read the schema yet: this page asks for a token and fetches the other one.
  const requireAccess = requireSchemaAccess(
    config,
    pool,
    sendPage(render('Documentation', renderGate(basePath)), policy),
  );
  return {
    page: [requireAccess, send('', 'Documentation', () => renderStartPage(documentation))],
    below: [requireAccess, sendPart],
  };
}

/** The page loads it with the first search. */
function sendSearchIndex(documentation: Documentation): RequestHandler {
  const sendIndex = compressed('json', async () => Buffer.from(JSON.stringify(createSearchIndex(documentation))));
  return async (request, response) => sendIndex(request, response.set('Cache-Control', 'no-store'));
}

/** The browser itself would send the form, with the token in the address, before the script does: the button waits for it. */
const renderGate = (basePath: string) => html`<main class="gate">
<h1>The schema is not public</h1>
<p>This service shows its schema to holders of an access token. Sign in with <a href="${basePath}/graphiql">GraphiQL</a> in this
tab and come back, or put a token here.</p>
<form id="token-form"><label>Access token <input name="token" required autocomplete="off" spellcheck="false"></label>
<button class="primary" disabled>Show the documentation</button></form>
<p id="problem" role="alert"></p>
</main>`;

/** Where a thing is, below the first page; its name; and what it is in a sentence. */
type SearchEntry = readonly [place: string, name: string, text: string];

/** The entries of the search: guides, codes of errors, limits, types and all their parts, by name or by a word of the sentence. */
function createSearchIndex({ schema, config }: Documentation): SearchEntry[] {
  const all = Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type));
  const [others, types] = [true, false].map((isWanted) =>
    all.filter(({ name }) => isAround.test(name) === isWanted),
  ) as [GraphQLNamedType[], GraphQLNamedType[]];
  return [
    ...guides,
    ...Object.entries(errorCodes).map(([code, { meaning }]): SearchEntry => [`errors#${code}`, code, meaning]),
    ...Object.keys(config.limits).map((limit): SearchEntry => ['errors#limits', `Limit: ${limit}`, '']),
    ...types.map(({ name, description }): SearchEntry => [name, name, firstSentence(description)]),
    ...types.flatMap(partsOf),
    ...others.map(({ name }): SearchEntry => [name, name, '']),
    ...schema.getDirectives().map(({ name }): SearchEntry => [`directives#${name}`, `@${name}`, '']),
  ];
}

/** Types around others, which few people search for: they are last, without their parts. */
const isAround = /(Edge|Connection|Payload)$/;

const guides: readonly SearchEntry[] = [
  ['tokens', 'Access tokens', 'How to get a token, by each grant.'],
  ['tokens#inspecting', 'Inspecting and revoking tokens', 'Token info, introspection, revocation.'],
  ['tokens#requests', 'Requests', 'Headers, stored documents, Idempotency-Key.'],
  ['errors', 'Errors', 'What each code means, and what to do.'],
  ['errors#too-many-requests', 'Too many requests: 429, Retry-After', ''],
  ['errors#limits', 'Limits', 'How much an operation may ask for.'],
];

function partsOf(type: GraphQLNamedType): SearchEntry[] {
  const parts = isEnumType(type) ? type.getValues() : fieldsOf(type);
  const isMutation = type.name === 'Mutation';
  return parts.map(({ name, description }) => {
    return [`${type.name}#${name}`, `${type.name}.${name}`, isMutation ? firstSentence(description) : ''];
  });
}
