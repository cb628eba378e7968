import { cp, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { preset } from '@graphql-codegen/client-preset';
import { codegen } from '@graphql-codegen/core';
import { buildSchema, type DocumentNode, parse, print } from 'graphql';
import { blocksOf } from '../../docs/pages.ts';
import { settled } from '../changes/feed.ts';
import { ask, createTenant, startGraphTest } from '../support.ts';
import { openWorkshop, schemaFile, type Workshop } from './workshop.ts';

let workshop: Workshop;
beforeAll(async () => {
  workshop = await openWorkshop();
  await workshop.write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['.'] }));
  await generate();
});
afterAll(() => workshop.remove());

const operations = `
  mutation HireUser($fullName: String!, $email: String!) {
    userCreate(fullName: $fullName, email: $email) { user { id fullName timeZone } }
  }
  query Users($first: Int, $orderBy: [UserOrderBy!]) {
    app { name users(first: $first, orderBy: $orderBy) { totalCount nodes { fullName cardAssignments { card { __typename name } } } } }
  }
  query Changes($after: Cursor, $typeNames: [FollowedType!]) {
    app { changes(after: $after, typeNames: $typeNames) { nodes { operation typeName fields node { __typename ... on User { fullName } } } pageInfo { hasNextPage endCursor } } }
  }
`;

/** A client as its author writes it, by the types that were generated. */
const client = `
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { CardsDocument, ChangesDocument, type FollowedType, HireUserDocument, UsersDocument } from './generated/graphql.ts';

/** How the client asks for a document: by its text or by its id. */
type ToParameters = (document: object) => { query: string } | { documentId: string };

export function createClient(url: string, token: string, toParameters: ToParameters) {
  const send = async <Data, Variables>(document: TypedDocumentNode<Data, Variables>, variables: Variables) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: \`Bearer \${token}\` },
      body: JSON.stringify({ ...toParameters(document), variables }),
    });
    const { data, errors } = (await response.json()) as { data: Data; errors?: { message: string }[] };
    if (errors) throw new Error(errors.map(({ message }) => message).join());
    return data;
  };
  return {
    hire: async (fullName: string, email: string) => {
      const { userCreate } = await send(HireUserDocument, { fullName, email });
      return userCreate?.user?.timeZone;
    },
    list: async () => {
      const { app } = await send(UsersDocument, { first: 10, orderBy: ['FULL_NAME_ASC'] });
      return { total: app?.users.totalCount, names: app?.users.nodes.map((user) => user.fullName) };
    },
    badges: async () => {
      const { app } = await send(CardsDocument, {});
      return app?.cards.nodes.flatMap((card) => (card.__typename === 'NfcCard' ? [card.nfcIdentifier] : []));
    },
    follow: async (after: string | null, typeNames: FollowedType[] | null = null) => {
      const { app } = await send(ChangesDocument, { after, typeNames });
      // The compiler knows every type that is followed.
      const kinds = { User: 'person', Unit: 'place', AccessGrant: 'access', CardAssignment: 'card' } as const;
      for (const { typeName } of app?.changes.nodes ?? [])
        switch (typeName) {
          case 'User':
          case 'Unit':
          case 'AccessGrant':
          case 'CardAssignment': {
            const kind: 'person' | 'place' | 'access' | 'card' = kinds[typeName];
            if (!kind) throw new Error(typeName);
            break;
          }
          default: {
            const card: 'BeaconCard' | 'NfcCard' | 'IdentificationCode' = typeName;
            if (!card.match(/C(ard|ode)$/)) throw new Error(card);
          }
        }
      return app?.changes.nodes.map(({ operation, node }) => [operation, node?.__typename === 'User' ? node.fullName : null]);
    },
  };
}
`;

const compilerOptions = {
  target: 'es2022',
  module: 'nodenext',
  types: ['node'],
  lib: ['esnext', 'dom'],
  noEmit: true,
  allowImportingTsExtensions: true,
  erasableSyntaxOnly: true,
  verbatimModuleSyntax: true,
  strict: true,
  skipLibCheck: true,
};

/** Generates files as the command line of graphql-codegen does with its client preset, without questions and watching. */
async function generate() {
  const blocks = await blocksOf('docs/for-a-client.md');
  const [json = '', fragments = '', program = ''] = blocks
    .filter(({ heading }) => heading === 'Types from the schema')
    .map(({ text }) => text);
  await workshop.write('cards.ts', program);
  const { config, presetConfig } = JSON.parse(json).generates['src/generated/'];
  const documents = operations + fragments;
  const sdl = await readFile(schemaFile, 'utf8');
  const files = await preset.buildGeneratesSection({
    baseOutputDir: 'generated/',
    schema: parse(sdl),
    schemaAst: buildSchema(sdl),
    documents: [{ location: 'operations.graphql', document: parse(documents), rawSDL: documents }],
    config: { ...config, importExtension: '.ts' },
    presetConfig: { ...presetConfig, persistedDocuments: true },
    plugins: [],
    pluginMap: {},
  });
  await Promise.all(files.map(async (file) => workshop.write(file.filename, await codegen(file))));
}

const mistakes: readonly (readonly [what: string, right: string, wrong: string, reason: string])[] = [
  ['a field that is not there', 'user.fullName', 'user.nickname', "TS2339: Property 'nickname' does not exist"],
  ['a variable of another type', 'first: 10', "first: 'ten'", "TS2322: Type 'string' is not assignable"],
  ['a cursor that is no text', 'after: string', 'after: number', "TS2322: Type 'number | null' is not assignable"],
  [
    'a field of one type of card',
    "=== 'NfcCard'",
    "=== 'BeaconCard'",
    "TS2339: Property 'nfcIdentifier' does not exist",
  ],
  [
    'a type that is not followed',
    'typeNames: FollowedType[] | null = null',
    "typeNames: FollowedType[] | null = ['Webhook']",
    'TS2322: Type \'"Webhook"\' is not assignable',
  ],
  ['a type that its cases leave out', "case 'AccessGrant':", '', '"AccessGrant"'],
  ['what may be null', 'userCreate?.user?.', 'userCreate.user.', "TS18047: 'userCreate' is possibly 'null'"],
];

describe('a client with the types of graphql-codegen', () => {
  let errors: string[];
  /** The compiler's errors in one file. */
  const errorsIn = (file: string) => errors.filter((line) => line.startsWith(`${file}(`));
  beforeAll(async () => {
    await workshop.write('client.ts', client);
    // The compiler reads its libraries once for all of them.
    for (const [index, [, right, wrong]] of mistakes.entries())
      await workshop.write(`mistake${index}.ts`, client.replace(right, wrong));
    const { output } = await workshop.run('tsc', '--pretty', 'false');
    errors = output.split('\n').filter(Boolean);
  });

  it('is right by its compiler, which finds nothing in generated files either', () => {
    expect(errors.filter((line) => !/^(mistake\d\.ts| )/.test(line))).toEqual([]);
  });

  it.each(mistakes)('is wrong by its compiler with %s', async (what, right, _wrong, reason) => {
    expect(client.split(right)).toHaveLength(2);
    const file = `mistake${mistakes.findIndex(([name]) => name === what)}.ts`;

    expect(errorsIn(file)).toEqual(expect.arrayContaining([expect.stringContaining(reason)]));
  });

  it("lists cards by the page's own program", async () => {
    const graph = await startGraphTest();
    const tenant = await createTenant(graph);
    await ask(
      graph,
      tenant.app,
      'mutation { nfcCardCreate(name: "Badge", nfcIdentifier: "04a224b2") { card { id } } }',
    );
    await ask(graph, tenant.app, 'mutation { identificationCodeCreate(name: "PIN") { card { id } } }');
    // The environment of who runs the tests may have these variables: those of a file would not take their place.
    const environment = JSON.stringify({ BASE_URL: graph.url, TOKEN: tenant.app });
    await workshop.write('main.ts', `Object.assign(process.env, ${environment});\nawait import('./cards.ts');\n`);

    const { code, output } = await workshop.run('node', 'main.ts');

    expect({ code, output }).toEqual({ code: 0, output: 'Badge 04A224B2\nPIN IdentificationCode\n' });
    await graph.stop();
  });

  it('adds users and lists them', async () => {
    await useClient({}, (document) => ({ query: print(document) }));
  });

  it('does so by the ids of its documents, where the service answers no others', async () => {
    const stored = await workshop.write('stored/.keep', '');
    const written = join(workshop.folder, 'generated', 'persisted-documents.json');
    await cp(written, join(dirname(stored), 'documents.json'));

    await useClient({ PERSISTED_OPERATIONS: dirname(stored) }, ({ __meta__ }) => ({ documentId: __meta__.hash }));
  });
});

/** A document as graphql-codegen generates it, with the id under which it is stored. */
type Generated = DocumentNode & { __meta__: { hash: string } };

async function useClient(environment: Record<string, string>, toParameters: (document: Generated) => object) {
  const graph = await startGraphTest(environment);
  try {
    const tenant = await createTenant(graph);
    const { createClient } = await import(await workshop.write('client.ts', client));
    const { hire, list, badges, follow } = createClient(`${graph.url}/graphql`, tenant.app, toParameters);

    const timeZone = await hire('Grace Hopper', 'grace@acme.test');
    await hire('Ada Lovelace', 'ada@acme.test');

    expect(timeZone).toBe('UTC');
    expect(await badges()).toEqual([]);
    expect(await list()).toEqual({ total: 2, names: ['Ada Lovelace', 'Grace Hopper'] });
    await settled(tenant);
    expect(await follow(null)).toEqual([
      ['CREATE', 'Grace Hopper'],
      ['CREATE', 'Ada Lovelace'],
    ]);
    expect(await follow(null, ['User'])).toHaveLength(2);
    expect(await follow(null, ['AccessGrant', 'Unit'])).toEqual([]);
  } finally {
    await graph.stop();
  }
}
