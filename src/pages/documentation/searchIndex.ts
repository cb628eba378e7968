import { type GraphQLNamedType, isEnumType, isIntrospectionType } from 'postgraphile/graphql';
import { errorCodes } from '../../graphql/errors.ts';
import { fieldsOf } from './fields.ts';
import type { Documentation } from './frame.ts';
import { firstSentence } from './text.ts';

/** Where a thing is, below the first page; its name; and what it is in a sentence. */
export type SearchEntry = readonly [place: string, name: string, text: string];

/** What the search finds: guides, codes of errors, limits, types and all their parts, by name or by a word of the sentence. */
export function createSearchIndex({ schema, config }: Documentation): SearchEntry[] {
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
