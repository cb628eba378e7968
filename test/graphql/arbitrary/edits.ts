import fc from 'fast-check';
import type { GraphQLSchema } from 'postgraphile/graphql';
import type { Document } from './render.ts';

/** The same documents with one to three tokens left out, doubled, swapped, replaced or put in. */
export function edited(documents: fc.Arbitrary<Document>, schema: GraphQLSchema): fc.Arbitrary<Document> {
  const edits = fc.array(
    fc.record({
      at: fc.nat(10_000),
      kind: fc.constantFrom('delete', 'double', 'swap', 'replace', 'insert'),
      token: fc.oneof(fc.constantFrom(...tokens), fc.constantFrom(...namesOf(schema))),
    }),
    { minLength: 1, maxLength: 3 },
  );
  return fc.tuple(documents, edits).map(([{ query, ...variables }, changes]) => {
    const words = query.match(token) ?? [];
    for (const { at, kind, token } of changes) {
      const index = at % Math.max(words.length, 1);
      const word = words[index] ?? '';
      if (kind === 'delete') words.splice(index, 1);
      else if (kind === 'double') words.splice(index, 0, word);
      else if (kind === 'swap') words.splice(index, 2, words[index + 1] ?? '', word);
      else words.splice(index, kind === 'replace' ? 1 : 0, token);
    }
    return { query: words.join(' '), ...variables };
  });
}

const token = /"(?:\\.|[^"\\])*"|[$@]?[A-Za-z_]\w*|-?\d[\w.+-]*|\.\.\.|\S/g;

const tokens = [
  ...[
    '{',
    '}',
    '(',
    ')',
    '[',
    ']',
    ':',
    '!',
    '=',
    '|',
    '&',
    '$',
    '@',
    '...',
    '"',
    '"""',
    '"""x"""',
    '#',
    ',',
    '\\',
    '\0',
  ],
  ...[
    'query',
    'mutation',
    'subscription',
    'fragment',
    'on',
    'type',
    'schema',
    'extend',
    'true',
    'null',
    'Int',
    'String!',
  ],
  ...['$v0', '$nothing', '@skip(if: true)', '@include(if: $v0)', '@defer', '@stream', '@deprecated', '@oneOf', '...F0'],
  ...[
    '0',
    '-',
    '1e999',
    '00',
    '1.',
    '9'.repeat(100),
    '"\\u{110000}"',
    '"\\uD83D"',
    '"\\u{1F600}"',
    '\ufeff',
    '😀',
    '\u2028',
  ],
  ...['__typename', '__schema', '__type', '__proto__', 'constructor', '{ __typename }', '(first: 1)', '(id: null)'],
];

/** Every name that the schema has. */
function namesOf(schema: GraphQLSchema): string[] {
  const fields = Object.values(schema.getTypeMap()).flatMap((type) =>
    'getFields' in type
      ? Object.values(type.getFields()).flatMap((field: { name: string; args?: readonly { name: string }[] }) => [
          field.name,
          ...(field.args ?? []).map(({ name }) => name),
        ])
      : [],
  );
  return [...new Set([...Object.keys(schema.getTypeMap()), ...fields])];
}
