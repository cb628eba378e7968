import { getNamedType } from 'postgraphile/graphql';
import { type Html, html } from '../../html/html.ts';
import { groupMutations } from './domain.ts';
import { type Field, fieldsOf } from './fields.ts';
import type { Documentation } from './frame.ts';
import { mutationErrors } from './mutationErrors.ts';
import { renderReference } from './references.ts';
import { renderArguments, renderExample } from './renderField.ts';
import { renderInline, renderText } from './text.ts';

/** `Mutation`: the mutations by subject, each with its arguments, result, errors and example. */
export const renderMutationPage = (documentation: Documentation): Html => html`<h1><code>Mutation</code></h1>
<p>Each mutation is a transaction of its own. The mutations of one request run in order. A mutation that fails is null, has an entry in <code>errors</code>
and has changed nothing. Send an <code>Idempotency-Key</code>, and you can <a href="${documentation.path}/tokens#requests">repeat</a> it safely.</p>
<p>An argument that has a wrong value, is missing or is one too many is <code>BAD_USER_INPUT</code>. Its description says what it takes.
Every mutation can also fail with <code>UNAUTHENTICATED</code>, <code>FORBIDDEN</code>, <code>UNAVAILABLE</code>, <code>TIMEOUT</code> or
<code>INTERNAL</code>: see <a href="${documentation.path}/errors">errors</a>.</p>
${groupMutations(documentation.schema).map(
  ({ subject, mutations }) => html`<section>
<h2 id="of-${subject?.name ?? 'others'}">${subject ? renderReference(documentation, subject) : 'Others'}</h2>
${mutations.map((mutation) => renderMutation(documentation, mutation))}</section>
`,
)}`;

function renderMutation(documentation: Documentation, mutation: Field): Html {
  const { name, description, args, type, deprecationReason } = mutation;
  const results = fieldsOf(getNamedType(type));
  const errors = mutationErrors(documentation.schema, mutation);
  return html`<article id="${name}">
<h3><a href="#${name}"><code>${name}</code></a>${deprecationReason && html` <span class="deprecated">deprecated: ${deprecationReason}</span>`}</h3>
${renderText(description)}
${
  args.length > 0 &&
  html`<h4>Arguments</h4>
${renderArguments(documentation, args, false)}`
}
<h4>Returns</h4>
<p>${results.map((field) => html`<code>${field.name}</code>: ${renderReference(documentation, field.type)} `)}</p>
${
  errors.length > 0 &&
  html`<h4>Errors</h4>
<ul class="errors">${errors.map(
    ({
      code,
      arguments: named,
      sentence,
    }) => html`<li><a href="${documentation.path}/errors#${code}"><code>${code}</code></a>${named.map(
      (argument, index) => html`${index === 0 ? ' of ' : ' or '}<code>${argument}</code>`,
    )}: ${renderInline(sentence)}</li>
`,
  )}</ul>`
}
${renderExample(documentation, `Mutation.${name}`)}
</article>
`;
}
