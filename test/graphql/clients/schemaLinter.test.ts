import { readFile } from 'node:fs/promises';
import { openWorkshop, schemaFile, type Workshop } from './workshop.ts';

let workshop: Workshop;
let schema: string;
beforeAll(async () => {
  workshop = await openWorkshop();
  schema = await readFile(schemaFile, 'utf8');
});
afterAll(() => workshop.remove());

const rules = ['relay-connection-types-spec', 'relay-connection-arguments-spec', 'relay-page-info-spec'];

/** The rules of graphql-schema-linter that the schema breaks. */
async function brokenRules(text: string): Promise<string[]> {
  const file = await workshop.write('schema.graphql', text);
  const { output } = await workshop.run('graphql-schema-linter', '--format', 'json', '--rules', rules.join(), file);
  const { errors } = JSON.parse(output) as { errors: { rule: string }[] };
  return [...new Set(errors.map(({ rule }) => rule))];
}

test("the schema keeps Relay's rules of connections", async () => {
  expect(await brokenRules(schema)).toEqual([]);
});

test.each([
  ['relay-connection-types-spec', 'edges: [UnitEdge!]!', 'edges: UnitEdge!'],
  ['relay-connection-arguments-spec', 'last: Int', 'last: String'],
  ['relay-page-info-spec', 'hasNextPage: Boolean!', 'hasNextPage: Boolean'],
])('%s notices %s written as %s', async (rule, right, wrong) => {
  const changed = schema.replaceAll(right, wrong);

  expect(changed).not.toBe(schema);
  expect(await brokenRules(changed)).toEqual([rule]);
});
