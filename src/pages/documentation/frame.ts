import type { GraphQLSchema } from 'postgraphile/graphql';
import type { Config } from '../../config.ts';
import { type Html, html } from '../../html/html.ts';
import type { Example } from './createExamples.ts';
import { domainTypesOf } from './domain.ts';

/** What every page of the documentation is made from. */
export type Documentation = {
  /** The specification's `{base_url}`. */
  readonly url: string;
  /** The path of the first page, below which the others are. */
  readonly path: string;
  readonly graphiqlPath: string;
  readonly schemaPath: string;
  readonly schema: GraphQLSchema;
  readonly config: Config;
  /** By the coordinates of fields. */
  readonly examples: ReadonlyMap<string, Example>;
};

/** The search, which stands before everything else, so that it is the first stop of Tab. */
export const renderSearch = (path: string): Html => html`<form role="search" class="search">
<input id="search" type="search" aria-label="Search the documentation" aria-keyshortcuts="/" placeholder="Search: press /"
 autocomplete="off" spellcheck="false" data-path="${path}">
<div id="results" hidden><p id="found-count" role="status"></p><ul id="found"></ul></div>
</form>`;

/**
 * A page with the contents beside it, which come after the text for those who read by ear or by keyboard.
 * The first page is the contents itself.
 */
export const renderFrame = (
  documentation: Documentation,
  here: string,
  content: Html,
): Html => html`<div class="written">
<main>
${content}
</main>
${here !== '' && renderContents(documentation, here)}
</div>`;

function renderContents({ path, schemaPath, schema }: Documentation, here: string): Html {
  const link = (part: string, title: string) =>
    html`<a href="${part === '' ? path : `${path}/${part}`}"${part === here && html` aria-current="page"`}>${title}</a>
`;
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].filter(
    (it) => it != null,
  );
  return html`<nav class="contents" aria-label="Contents">
${link('', 'Overview')}
<b>Operations</b>
${roots.map((root) => link(root.name, root.name))}
<b>Types</b>
${domainTypesOf(schema).map(({ name }) => link(name, name))}
<b>Guides</b>
${link('tokens', 'Access tokens')}${link('errors', 'Errors and limits')}
<a href="${schemaPath}">schema.graphql</a>
</nav>`;
}
