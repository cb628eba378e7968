import { type GraphQLSchema, type OperationTypeNode, SchemaMetaFieldDef } from 'postgraphile/graphql';
import { type Scope, scopes } from '../token/scopes.ts';
import { createExample, listOperations, type Operation } from './documentation/createExamples.ts';

/** The kinds of tokens by their rights; each has its own example queries. */
export type TokenKind = 'app' | 'user' | 'basic' | 'none';

/**
 * The kind of a token whose first scope this is.
 * A scope without its own examples shares those of `basic`.
 */
export const kindOf = (scope: Scope): TokenKind => {
  if (scopes[scope].holder === 'user') return 'user';
  return scope === 'app' ? scope : 'basic';
};

const tree = '{ nodes { name children { totalCount nodes { name children { nodes { name } } } } } }';
const cards = `cardAssignments {
  card { __typename name ... on BeaconCard { proximityUuid major minor } ... on NfcCard { nfcIdentifier } }
}`;

/** By label: coordinates of a field, with a selection or values if its own example is not enough. Those of one task are together. */
const chosen: Record<'app' | 'user', Record<string, [of: string, selection?: string | undefined, given?: object]>> = {
  app: {
    Users: ['App.users'],
    Units: ['App.rootUnits', tree],
    Cards: ['App.users', `{ nodes { fullName ${cards} } }`],
    'Who may enter': ['App.units', '{ nodes { name usersWithAccess { nodes { fullName } } } }'],
    'Follow changes': ['Subscription.changes'],
    'Create a user': ['Mutation.userCreate'],
    'Update it': ['Mutation.userUpdate', undefined, { fullName: 'Mary Fairfax Somerville' }],
    'Create a unit': ['Mutation.unitCreate'],
    'Let the user in': ['Mutation.accessGrant'],
    'Delete the unit': ['Mutation.unitDelete'],
    'Delete the user': ['Mutation.userDelete'],
  },
  user: {
    Me: ['Query.viewer'],
    'My units': ['User.accessibleUnits'],
    'My units as a tree': ['User.accessibleUnits', tree],
    'My cards': ['Query.viewer', `{ fullName ${cards} }`],
  },
};

export type Example = {
  readonly label: string;
  readonly task: (typeof tasks)[OperationTypeNode];
  readonly query: string;
  readonly variables?: object;
};

/** What each kind of operation is for. */
const tasks = { query: 'Read', subscription: 'Follow', mutation: 'Change' } as const;

/**
 * Examples that GraphiQL puts into its editor with one click.
 * The first is there at the start, and works without its variables. An example of a field that the schema lacks is left out.
 */
export function chooseExamples(schema: GraphQLSchema): Record<TokenKind, readonly Example[]> {
  const operations = listOperations(schema);
  const choose = (kind: keyof typeof chosen) =>
    Object.entries(chosen[kind]).flatMap(([label, [of, selection, given]]) => {
      const operation = operations.get(of);
      return operation ? toExample(label, operation, selection, given) : [];
    });
  const introspection: Operation = { kind: 'query', path: [SchemaMetaFieldDef] };
  const basic = [toExample('What the schema offers', introspection, '{ queryType { fields { name description } } }')];
  return { app: choose('app'), user: choose('user'), basic, none: basic };
}

function toExample(label: string, operation: Operation, selection?: string, given?: object): Example {
  const name = label.replace(/(?:^| )(\w)/g, (_, letter: string) => letter.toUpperCase());
  const { document, variables } = createExample(operation, name, selection);
  const comment = (operation.path.at(-1)?.description ?? label).replaceAll('\n', '\n# ');
  const hasVariables = Object.keys(variables).length > 0;
  return {
    label,
    task: tasks[operation.kind],
    query: `# ${comment}\n${document}\n`,
    ...(hasVariables && { variables: { ...variables, ...given } }),
  };
}
