import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { constructs, findUnknown } from '../src/constructs.ts';
import { loadParser } from '../src/parse.ts';
import { startProving } from './support.ts';

let proving: Awaited<ReturnType<typeof startProving>>;
beforeAll(async () => {
  proving = await startProving();
});
afterAll(() => proving.stop());

const tenantOf = async (policy: string) => {
  const { examples, ...untried } = proving.options;
  const judgements = await proving.judgeAfter(`alter policy users_of_tenant on app.users using (${policy})`, {
    ...{
      ...untried,
      isAsked: ({ invariant, relation, command }) =>
        `${invariant} ${relation} ${command}` === 'tenant app.users select',
    },
  });
  return judgements.filter(({ invariant }) => invariant === 'tenant');
};

test.each(Object.entries(constructs))(
  'the example of %s is proven, and its negation is not',
  async (_name, { example }) => {
    expect(await tenantOf(example)).toMatchObject([{ verdict: 'proven' }]);
    expect(await tenantOf(`(${example}) is not true`)).not.toMatchObject([{ verdict: 'proven' }]);
  },
);

test('the README has the table', async () => {
  const rows = Object.entries(constructs).map(
    ([name, { meaning, source, example }]) =>
      `| ${name} | ${meaning} | \`${example.replaceAll('|', '\\|')}\` | ${source} |`,
  );
  const table = [
    "| Construct | Meaning | Example | In PostgreSQL's manual or source |",
    '|---|---|---|---|',
    ...rows,
  ].join('\n');

  expect(await readFile(new URL('../README.md', import.meta.url), 'utf8')).toContain(table);
});

test.each([
  ['array_dims(array[1]) is not null and (array[1, 2])[1] = 1', 'A_Indirection'],
  [`(name, id) is not null`, 'composite'],
  [`xmlparse(document '<a/>') is document`, 'XmlExpr'],
  [`app.known(a => tenant_id)`, 'NamedArgExpr'],
  [`users is not null`, 'users'],
  [`users.ctid is not null`, 'ctid'],
  [`pg_read_file(name) is null`, 'pg_read_file'],
  [`query_to_xml(name, true, false, '') is not null`, 'query_to_xml'],
  [`set_config('app.tenant_id', name, true) is not null`, 'set_config'],
])('what is not in the table is denied by its name: %s', async (condition, name) => {
  const given =
    'create function app.known(a uuid) returns boolean language sql stable as $$ select true $$; grant execute on function app.known(uuid) to member';
  const { examples, ...untried } = proving.options;
  const judgements = await proving.judgeAfter(
    `${given}; alter policy users_of_tenant on app.users using (tenant_id = (select app.tenant_id()) and ${condition})`,
    { ...untried, isAsked: ({ relation }) => relation === 'app.users' },
  );

  const [select] = judgements.filter(({ invariant, command }) => `${invariant} ${command}` === 'tenant select');
  expect(select).toMatchObject({ verdict: 'unproven', why: expect.stringMatching(/^not understood: /) });
  expect(select?.why).toContain(name);
});

/** The other fields of these nodes, which are not understood. */
const refusedFields: Readonly<Record<string, string>> = {
  ...{
    A_Const: 'bsval',
    BoolExpr: 'xpr',
    NullTest: 'xpr argisrow',
    BooleanTest: 'xpr',
    TypeName: 'typeOid setof pct_type',
  },
  ...{ CoalesceExpr: 'xpr coalescetype coalescecollid', CaseExpr: 'xpr casetype casecollid', CaseWhen: 'xpr' },
  ...{ SQLValueFunction: 'xpr type', FuncCall: 'func_variadic', SubLink: 'xpr subLinkId', SelectStmt: 'intoClause' },
  ...{ RangeVar: 'catalogname', SortBy: 'useOp', MinMaxExpr: 'xpr minmaxtype minmaxcollid inputcollid' },
  CommonTableExpr:
    'search_clause cycle_clause cterecursive cterefcount ctecolnames ctecoltypes ctecoltypmods ctecolcollations',
  ...{ RowExpr: 'xpr row_typeid colnames', XmlSerialize: 'indent', GroupingFunc: 'xpr refs agglevelsup' },
};

test("each field of a construct is understood or refused, by the parser's own list", async () => {
  const types = await readFile(createRequire(import.meta.url).resolve('@pgsql/types/types.d.ts'), 'utf8');
  const fieldsOf = (node: string) =>
    [...(new RegExp(`^export interface ${node} \\{([^}]*)\\}`, 'm').exec(types)?.[1] ?? '').matchAll(/(\w+)\?:/g)]
      .map(([, field]) => field ?? '')
      .filter((field) => !/location|list_start|list_end/.test(field));

  for (const [node, names] of Object.values(constructs).flatMap(({ nodes }) => Object.entries(nodes))) {
    const known = `${names} ${refusedFields[node] ?? ''}`.split(' ').filter((name) => name !== '');
    expect([node, ...known.toSorted()]).toEqual([node, ...fieldsOf(node).toSorted()]);
  }
});

test('a field or node that is not in the table is no part of a construct', async () => {
  const parser = await loadParser();

  expect(findUnknown(parser.expression(`lower(name)`))).toBeNull();
  expect(findUnknown(parser.expression(`concat(variadic names)`))).toBe('FuncCall.func_variadic');
  // PostgreSQL 15 and 16 do not have it.
  expect(findUnknown(parser.expression(`json_value('{}', '$.a')`))).toBe('JsonFuncExpr');
  expect(findUnknown(parser.expression(`exists (select from app.users tablesample system (1))`))).toBe(
    'RangeTableSample',
  );
});
