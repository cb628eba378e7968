import { type Html, html } from '../../html/html.ts';
import type { Documentation } from './frame.ts';
import { renderArguments } from './renderField.ts';
import { renderText } from './text.ts';

/** What a document may say besides fields. */
export const renderDirectivePage = (documentation: Documentation): Html => html`<h1>Directives</h1>
${documentation.schema.getDirectives().map(
  ({ name, description, args }) => html`<article id="${name}">
<h2><a href="#${name}"><code>@${name}</code></a></h2>
${renderText(description)}
${renderArguments(documentation, args)}
</article>
`,
)}`;
