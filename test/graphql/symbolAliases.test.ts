import { SymbolAliasesPlugin } from '../../packages/grafast-compile/src/SymbolAliasesPlugin.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { shareService } from '../support/sharedService.ts';
import { askStock, upstreamTables } from './stockPostgraphile.ts';
import { createTenant, createUnit, createUser, type GraphTest, grantAccess, read, type Tenant } from './support.ts';

// The same field under many aliases, of which some are equal in part, is right under each.

describe('counts of one connection in several orders', () => {
  let graph: GraphTest;
  let tenant: Tenant;
  beforeAll(async () => {
    graph = await shareService();
    tenant = await createTenant(graph);
    const unit = await createUnit(tenant, { name: 'A' });
    await createUnit(tenant, { name: 'B', parent: unit });
    await createUnit(tenant, { name: 'C', parent: unit });
    await grantAccess(tenant, await createUser(tenant), unit);
  });

  const orders = [
    'NAME_DESC',
    'NAME_ASC',
    'NAME_DESC',
    'EXTERNAL_IDENTIFIER_ASC',
    'NAME_ASC',
    'EXTERNAL_IDENTIFIER_ASC',
  ];
  const counts = (field: string) =>
    orders.map((order, at) => `a${at}: ${field}(orderBy: [${order}]) { totalCount }`).join(' ');
  const expected = (totalCount: number) => Object.fromEntries(orders.map((_, at) => [`a${at}`, { totalCount }]));

  it.each([
    ['units', `{ app { ${counts('units')} } }`, () => ({ app: expected(3) })],
    [
      'children',
      `{ app { rootUnits { nodes { ${counts('children')} } } } }`,
      () => ({ app: { rootUnits: { nodes: [expected(2)] } } }),
    ],
    [
      'accessible units',
      `{ app { users { nodes { ${counts('accessibleUnits')} } } } }`,
      () => ({ app: { users: { nodes: [expected(3)] } } }),
    ],
  ])('are right: %s', async (_, query, answer) => {
    for (let time = 0; time < 2; time++) expect(await read(graph, tenant.app, query)).toEqual(answer());
  });
});

/** For upstream: a stock PostGraphile, and one query. */
describe('@dataplan/pg 1.1.2 alone', () => {
  const count = (alias: string, order: string) =>
    `${alias}: assignmentsByPersonId(first: 1, orderBy: ${order}) { totalCount }`;
  const orders = ['CARD_ID_ASC', 'PERSON_ID_ASC', 'CARD_ID_ASC', 'PERSON_ID_ASC'];
  const source = `{ allPeople { nodes { ${orders.map((order, at) => count(`a${at}`, order)).join(' ')} } } }`;

  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    await database.owner.query(upstreamTables);
  });
  afterAll(() => database.drop());

  it('cannot count; when this fails, a release has mended it and the plugin can go', async () => {
    const { errors } = await askStock(database, source, []);

    expect(errors?.[0]?.message).toMatch(/sql.symbolAlias was used after the symbols were used/);
  });

  it('counts with the plugin', async () => {
    const person = Object.fromEntries(orders.map((_, at) => [`a${at}`, { totalCount: 1 }]));

    expect(await askStock(database, source, [SymbolAliasesPlugin])).toEqual({
      data: { allPeople: { nodes: [person] } },
    });
  });
});
