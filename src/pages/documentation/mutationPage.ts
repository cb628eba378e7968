import { type GraphQLSchema, getNamedType } from 'postgraphile/graphql';
import type { ErrorCode } from '../../graphql/errors.ts';
import { type Html, html } from '../../html/html.ts';
import { type Field, fieldsOf, groupMutations, targetOf } from './domain.ts';
import type { Documentation } from './frame.ts';
import { renderArguments, renderExample, renderInline, renderReference, renderText } from './render.ts';

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

/** `arguments` are those of which `extensions.argument` has one. */
type MutationError = {
  readonly code: ErrorCode;
  readonly arguments: readonly string[];
  readonly sentence: string;
};

/**
 * The errors of a mutation that its schema implies: what it names may not exist, its row may break a constraint, its function may raise.
 * The sentences are those with which the service answers, so that a new constraint or function is here at once.
 */
function mutationErrors(schema: GraphQLSchema, mutation: Field): MutationError[] {
  const all = [...ofMissing(mutation), ...ofConstraints(schema, mutation), ...ofFunction(schema, mutation)];
  const once = new Map(all.map((error) => [JSON.stringify(error), error]));
  return [...once.values()].sort((one, other) => order.indexOf(one.code) - order.indexOf(other.code));
}

const order: readonly ErrorCode[] = ['NOT_FOUND', 'CONFLICT', 'BAD_USER_INPUT', 'LIMIT_EXCEEDED'];

function ofMissing(mutation: Field): MutationError[] {
  const named = mutation.args.filter(({ name }) => identifies(mutation, name)).map(({ name }) => `\`${name}\``);
  const sentence = `There is no object in the organization that ${named.join(' or ')} names.`;
  return named.length > 0 ? [{ code: 'NOT_FOUND', arguments: [], sentence }] : [];
}

/** A row that is deleted breaks no constraint by what names it. */
function ofConstraints(schema: GraphQLSchema, mutation: Field): MutationError[] {
  if (mutation.name.endsWith('Delete')) return [];
  const constraints = schema.extensions.constraintsOfTypes;
  const rules = fieldsOf(getNamedType(mutation.type))
    .map(targetOf)
    .flatMap((type) => (type ? [type, ...type.getInterfaces()] : []))
    .flatMap(({ name }) => constraints?.get(name) ?? []);
  return rules.flatMap(({ argument, comment, isUnique }): MutationError[] => {
    if (argument === undefined || comment === undefined || !takes(mutation, [argument])) return [];
    return [{ code: isUnique ? 'CONFLICT' : 'BAD_USER_INPUT', arguments: [argument], sentence: comment }];
  });
}

/** What a helper raises about an argument that this mutation does not have, it raises for other mutations. */
function ofFunction(schema: GraphQLSchema, mutation: Field): MutationError[] {
  const errors = schema.extensions.errorsOfMutations?.get(mutation.name) ?? [];
  return errors.flatMap(({ condition, message, arguments: named }): MutationError[] => {
    const code = codes[condition];
    // What is not found is said above, with the arguments that name it.
    if (code === undefined || code === 'NOT_FOUND' || !takes(mutation, named)) return [];
    if (message === ofEither('…', '…'))
      return pairsOf(mutation).map(([id, other]) => {
        return { code, arguments: [id], sentence: ofEither(`\`${id}\``, `\`${other}\``) };
      });
    return [{ code, arguments: named, sentence: /[.!?]$/.test(message) ? message : `${message}.` }];
  });
}

/** What `app_hidden.require_one` raises, which is asked about every pair of arguments that identify the same object. */
const ofEither = (id: string, other: string) => `Give either ${id} or ${other}.`;

const pairsOf = ({ args }: Field): [id: string, other: string][] =>
  args.flatMap(({ name }): [string, string][] => {
    const other = name.replace(/^id(s?)$/, 'externalIdentifier$1').replace(/Id$/, 'ExternalIdentifier');
    return other !== name && args.some((argument) => argument.name === other) ? [[name, other]] : [];
  });

const takes = ({ args }: Field, names: readonly string[]) =>
  names.every((name) => args.some((argument) => argument.name === name));

/** As `src/graphql/errors.ts` maps the SQLSTATE of each condition. */
const codes: Readonly<Record<string, ErrorCode>> = {
  no_data_found: 'NOT_FOUND',
  unique_violation: 'CONFLICT',
  exclusion_violation: 'CONFLICT',
  dependent_objects_still_exist: 'CONFLICT',
  check_violation: 'BAD_USER_INPUT',
  foreign_key_violation: 'BAD_USER_INPUT',
  restrict_violation: 'BAD_USER_INPUT',
  not_null_violation: 'BAD_USER_INPUT',
  invalid_parameter_value: 'BAD_USER_INPUT',
  program_limit_exceeded: 'LIMIT_EXCEEDED',
};

/** An argument that names an object; what is created gets its identifier only then. */
const identifies = ({ name }: Field, argument: string) =>
  /(^id|Id|[eE]xternalIdentifier)$/.test(argument) && !(name.endsWith('Create') && argument === 'externalIdentifier');
