import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { constant, execute, hookArgs, lambda, makeGrafastSchema } from 'postgraphile/grafast';
import {
  GraphQLSchema,
  type GraphQLSchemaConfig,
  getOperationAST,
  getVariableValues,
  parse,
} from 'postgraphile/graphql';
import {
  type CompilationOptions,
  type CompiledOperation,
  createCompilationPreset,
  executeCompiled,
  type OperationRequest,
  type OperationResult,
  TooLongError,
} from '../src/index.ts';
import { foundVersions } from '../src/internals.ts';

/** How many plans of an operation the schema keeps. */
const plansOfOperation = 2;

const typeDefs = `
  type Query { name: String! half(of: Int!): Int }
  type Mutation { bump: Int }`;

/** A number that is odd has no half. */
const halfOf = Object.assign(
  (value: number) => {
    if (value % 2 === 1) throw new Error('It is odd');
    return value / 2;
  },
  { isSync: true },
);

/** A server without a database: what it executed, and in which way. */
function createServer(options: CompilationOptions = {}) {
  let bumps = 0;
  const bump = Object.assign(() => ++bumps, { isSync: true });
  const { plugins = [] } = createCompilationPreset(options);
  const hook = plugins[0]?.schema?.hooks?.GraphQLSchema as unknown as (
    config: GraphQLSchemaConfig,
  ) => GraphQLSchemaConfig;
  const plain = makeGrafastSchema({
    typeDefs,
    objects: {
      Query: { plans: { name: () => constant('Ada'), half: (_, { $of }) => lambda($of, halfOf) } },
      Mutation: { plans: { bump: () => lambda(constant(null), bump) } },
    },
  });
  const { extensions, ...config } = plain.toConfig();
  const limits = { ...extensions?.grafast, operationOperationPlansCacheMaxLength: plansOfOperation };
  const schema = new GraphQLSchema(hook({ ...config, extensions: { ...extensions, grafast: limits } }));
  const resolvedPreset = { plugins } as unknown as GraphileConfig.ResolvedPreset;
  const documents = new Map<string, ReturnType<typeof parse>>();

  return async (
    source: string,
    values: Record<string, unknown> = {},
    request: Partial<OperationRequest> = {},
  ): Promise<OperationResult & { ways: string[] }> => {
    const ways: string[] = [];
    const document = documents.get(source) ?? parse(source);
    documents.set(source, document);
    const operation = getOperationAST(document);
    if (!operation) throw new Error('No operation');
    const { coerced = {} } = getVariableValues(schema, operation.variableDefinitions ?? [], values);
    const result = await executeCompiled({
      ...{ schema, operation, variables: coerced, context: {} },
      async runGrafast(context) {
        const args = { schema, document, variableValues: values, contextValue: context, outputDataAsString: true };
        const result = (await execute(
          await hookArgs({ ...args, resolvedPreset, requestContext: {} }),
        )) as OperationResult;
        if (!context.compilesOnly || result.errors?.[0]?.originalError?.name !== 'CompiledInstead')
          ways.push('Grafast');
        return result;
      },
      runCompiled(compiled: CompiledOperation) {
        ways.push('compiled');
        return compiled.run(coerced, {}, () => Promise.reject(new Error('There is no statement')));
      },
      ...request,
    });
    return { ...result, ways };
  };
}

const conditional = 'query ($a: Boolean!, $b: Boolean!) { name a: name @include(if: $a) b: name @include(if: $b) }';
const half = 'query ($of: Int!) { name half(of: $of) }';

test('an operation runs compiled from the first time on, with the values of each request', async () => {
  const ask = createServer();
  let compiled = 0;
  const count = () => void compiled++;
  subscribe('grafast-compile:compiled', count);

  const answers = [await ask(half, { of: 2 }), await ask(half, { of: 8 })];
  unsubscribe('grafast-compile:compiled', count);

  expect(answers).toEqual([
    { data: '{"name":"Ada","half":1}', ways: ['compiled'] },
    { data: '{"name":"Ada","half":4}', ways: ['compiled'] },
  ]);
  expect(compiled).toBe(1);
});

test.each([
  ['as many plans as', ['a b', 'b', 'a b', 'b'], 2],
  ['more plans than', ['a b', 'b', 'none', 'a b'], 4],
])('an operation that needs %s the schema keeps is compiled as often as it is planned', async (_, wanted, times) => {
  const ask = createServer();
  let compiled = 0;
  const count = () => void compiled++;
  subscribe('grafast-compile:compiled', count);

  for (const names of wanted) await ask(conditional, { a: names.includes('a'), b: names.includes('b') });
  unsubscribe('grafast-compile:compiled', count);

  expect(compiled).toBe(times);
});

test('Grafast reports what failed compiled, after the run was undone', async () => {
  const ask = createServer();
  const undone: unknown[] = [];
  const undo = async (error: unknown) => void undone.push(error);

  const { data, errors, ways } = await ask(half, { of: 3 }, { undo });

  expect({ data, ways }).toEqual({ data: '{"name":"Ada","half":null}', ways: ['compiled', 'Grafast'] });
  expect(errors).toMatchObject([{ message: 'It is odd', path: ['half'] }]);
  expect(undone).toMatchObject([{ message: 'It is odd' }]);
});

test('an operation whose run cannot be undone fails', async () => {
  const ask = createServer();
  const undo = () => Promise.reject(new Error('The connection is lost'));

  await expect(ask(half, { of: 3 }, { undo })).rejects.toThrow('The connection is lost');
});

test('mutations are left to Grafast unless they can be undone', async () => {
  const ask = createServer();

  expect(await ask('mutation { bump }')).toEqual({ data: '{"bump":1}', ways: ['Grafast'] });
  expect((await ask('mutation { bump }', {}, { undo: async () => undefined })).data).toBe('{"bump":2}');
});

test.each(['compiled', 'Grafast'])('an answer that is too long has an error and no data: %s', async (way) => {
  const ask = createServer({ maxBytes: 10, isEnabled: way === 'compiled' });

  const { data, errors, ways } = await ask(half, { of: 2 });

  expect(ways).toEqual([way]);
  expect(data ?? 'null').toBe('null');
  expect(errors?.map(({ originalError }) => originalError?.constructor)).toEqual([TooLongError]);
});

test('Grafast executes everything where compilation is off', async () => {
  const ask = createServer({ isEnabled: false });

  expect(await ask(half, { of: 2 })).toEqual({ data: '{"name":"Ada","half":1}', ways: ['Grafast'] });
});

describe('with a library of another version', () => {
  const versions = foundVersions as Record<string, string | undefined>;
  const { grafast } = versions;
  beforeAll(() => {
    versions.grafast = '1.2.0';
  });
  afterAll(() => {
    versions.grafast = grafast;
  });

  test('Grafast executes everything, which is said once for each schema', async () => {
    const reasons: string[] = [];
    const ask = createServer({ onUnknown: (reason) => reasons.push(reason) });

    expect(await ask(half, { of: 2 })).toEqual({ data: '{"name":"Ada","half":1}', ways: ['Grafast'] });
    expect(await ask(half, { of: 2 })).toMatchObject({ ways: ['Grafast'] });
    expect(reasons).toEqual(['grafast is 1.2.0 and not 1.1.3']);
  });

  test('the limit of an answer holds', async () => {
    const ask = createServer({ maxBytes: 10 });

    expect((await ask(half, { of: 2 })).errors?.[0]?.originalError).toBeInstanceOf(TooLongError);
  });
});
