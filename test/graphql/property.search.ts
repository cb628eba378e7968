import fc from 'fast-check';
import {
  buildSchema,
  type GraphQLSchema,
  isIntrospectionType,
  isObjectType,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'postgraphile/graphql';
import { errorCodes } from '../../src/graphql/errors.ts';
import { isWhole, seed, sizeOf } from '../support/search.ts';
import { createWorld } from './arbitrary/createWorld.ts';
import { documents } from './arbitrary/documents.ts';
import { edited } from './arbitrary/edits.ts';
import { type Request, requests } from './arbitrary/requests.ts';
import { createValues, type Known } from './arbitrary/values.ts';
import { type Answer, type OwnGraphTest, startGraphTest } from './support.ts';

const count = sizeOf({ small: 250, whole: 5000 });
/** So many requests are under way at any time; a repeated seed repeats all but the order in which they meet. */
const lanes = 8;

let graph: OwnGraphTest;
let schema: GraphQLSchema;
beforeAll(async () => {
  // A machine that is busy with other tests must not pass for an overload.
  graph = await startGraphTest({ DATABASE_POOL_WAIT_MS: '20000' });
  schema = buildSchema(await (await fetch(`${graph.url}/graphql/schema.graphql`)).text());
});
afterAll(() => graph.stop());

test(`${count} requests that are drawn from the schema are answered in JSON, none with a defect`, async () => {
  process.stdout.write(`${count} requests are drawn with SEED=${seed}\n`);
  const { tokens, known } = await createWorld(graph);
  const drawn = requests(drawnFrom(known), tokens);
  const codes = new Set<string>();
  const fields = new Set<string>();

  const check = async (request: Request) => {
    const answer = await send(request);
    expectSound(request, answer);
    for (const code of answer.codes) codes.add(code);
    if (isExecuted(answer)) for (const field of fieldsOf(request)) fields.add(field);
  };
  const lane = (index: number) =>
    fc.assert(fc.asyncProperty(drawn, check), { numRuns: Math.ceil(count / lanes), seed: seed + index });
  const results = await Promise.allSettled(Array.from({ length: lanes }, (_, index) => lane(index)));

  for (const result of results) if (result.status === 'rejected') throw result.reason;
  expect(graph.logs.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
  // The drawn operations have used nearly every field; otherwise the above says little. A stream is no JSON, and few rows of a sync fit.
  const missed = allFields().filter((field) => !fields.has(field));
  if (isWhole) expect(missed.length / allFields().length).toBeLessThan(0.1);
  expect([...codes]).toEqual(expect.arrayContaining(everyday));
}, 300_000);

const everyday = [
  ...['UNAUTHENTICATED', 'FORBIDDEN', 'BAD_USER_INPUT', 'NOT_FOUND', ...(isWhole ? ['CONFLICT'] : [])],
  ...['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED'],
];

/** Two of three fit the schema, some have strange values, some of these have their tokens mixed up. */
function drawnFrom(known: Known) {
  const values = createValues(known);
  const fitting = documents(schema, values.fitting);
  const strange = documents(schema, (argument) =>
    fc.oneof({ weight: 3, arbitrary: values.fitting(argument) }, { weight: 1, arbitrary: values.strange }),
  );
  return fc.oneof(
    { weight: 6, arbitrary: fitting },
    { weight: 2, arbitrary: strange },
    { weight: 1, arbitrary: edited(strange, schema) },
  );
}

type Received = { status: number; text: string; body: Answer['body'] | null; codes: string[] };

async function send({ method, search, headers, body }: Request): Promise<Received> {
  const response = await fetch(`${graph.url}/graphql${search}`, { method, headers, body });
  const text = await response.text();
  const isJson = /^application\/(graphql-response\+)?json; charset=utf-8$/.test(
    response.headers.get('Content-Type') ?? '',
  );
  const parsed = isJson && text !== '' ? (JSON.parse(text) as Answer['body']) : null;
  const codes = parsed?.errors?.map(({ extensions }) => extensions?.code) ?? [];
  return { status: response.status, text, body: parsed, codes };
}

/** @throws with the whole answer, from which fast-check goes on to a smaller request */
function expectSound({ method }: Request, { status, text, body, codes }: Received): void {
  const problems = [
    status >= 500 && 'the status is that of a failure',
    body === null && method !== 'HEAD' && 'there is no JSON',
    body && !('data' in body || codes.length > 0) && 'there is neither data nor an error',
    codes.includes('INTERNAL') && 'there is a defect',
    codes.some((code) => !(code in errorCodes)) && 'an error has no code',
    /\n\s*at |node_modules|\bpg_|SQLSTATE|relation \\"|column \\"/.test(text) && 'it tells of the inside',
  ].filter(Boolean);
  if (problems.length > 0) throw new Error(`${problems.join(', ')}: ${status} ${text}`);
}

const isExecuted = ({ body, codes }: Received) => body?.data != null && !codes.includes('FORBIDDEN');

/** `Type.field` of all fields that the request's document asks for. */
function fieldsOf(request: Request): Set<string> {
  const fields = new Set<string>();
  const types = new TypeInfo(schema);
  const note = () => {
    fields.add(`${types.getParentType()}.${types.getFieldDef()?.name}`);
  };
  visit(parse(request.query), visitWithTypeInfo(types, { Field: note }));
  return fields;
}

function allFields(): string[] {
  return Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type) && !isIntrospectionType(type)
      ? Object.keys(type.getFields()).map((field) => `${type.name}.${field}`)
      : [],
  );
}
