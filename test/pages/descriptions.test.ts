import { buildClientSchema, type GraphQLNamedType, getIntrospectionQuery, type IntrospectionQuery } from 'graphql';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestService, type TestService } from '../support/service.ts';

describe('the schema', () => {
  let database: TestDatabase;
  let service: TestService;

  beforeAll(async () => {
    database = await createTestDatabase();
    service = await startTestService(database);
  });

  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  it('describes every type, field, argument, value and directive', async () => {
    const things = await listThings(service.url);

    expect(things.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'Unit',
        'Unit.children',
        'Unit.children(first:)',
        'UserOrderBy.EMAIL_ASC',
        '@deprecated',
      ]),
    );
    expect(things.filter(({ description }) => !description?.trim()).map(({ name }) => name)).toEqual([]);
  });
});

type Thing = { name: string; description?: string | null | undefined };

async function listThings(url: string): Promise<Thing[]> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: getIntrospectionQuery({ inputValueDeprecation: true }) }),
  });
  const schema = buildClientSchema(((await response.json()) as { data: IntrospectionQuery }).data);

  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  return [...types.flatMap(partsOfType), ...schema.getDirectives().flatMap((it) => withArguments(it, `@${it.name}`))];
}

function partsOfType(type: GraphQLNamedType): Thing[] {
  const fields: Named[] = 'getFields' in type ? Object.values(type.getFields()) : [];
  const values: readonly Named[] = 'getValues' in type ? type.getValues() : [];
  return [type, ...[...fields, ...values].flatMap((part) => withArguments(part, `${type.name}.${part.name}`))];
}

type Named = Thing & { args?: readonly Thing[] };

const withArguments = ({ description, args = [] }: Named, name: string): Thing[] => [
  { name, description },
  ...args.map((argument) => ({ ...argument, name: `${name}(${argument.name}:)` })),
];
