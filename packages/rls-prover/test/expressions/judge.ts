import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { ClientBase } from 'pg';
import { asAdministrator, openTestDatabase } from '../../../../test/support/database.ts';
import { columns, type Expressions, filled } from './draw.ts';
import { evaluate, parseTerms, type Term, TooLong, textOf, type World } from './formula.ts';

type Modules = {
  readCatalogue: typeof import('../../src/readCatalogue.ts').readCatalogue;
  translateWhole: typeof import('../../src/expression.ts').translateWhole;
  createEnvironment: typeof import('../../src/queries.ts').createEnvironment;
  Problem: typeof import('../../src/formula.ts').Problem;
  rowOf: typeof import('../../src/scope.ts').rowOf;
  scopeOf: typeof import('../../src/scope.ts').scopeOf;
  loadParser: typeof import('../../src/parse.ts').loadParser;
  openSolver: typeof import('../../src/prover.ts').openSolver;
};

const files = ['readCatalogue', 'expression', 'queries', 'formula', 'scope', 'parse', 'prover'];

/** The translation in a folder: the package's own, or a copy with a fault. */
async function loadTranslation(folder: string): Promise<Modules> {
  const loaded: object[] = await Promise.all(files.map((file) => import(join(folder, `${file}.ts`))));
  return Object.assign({}, ...loaded);
}

export type Outcome = {
  /** Expressions that PostgreSQL accepts, and those of them that the translation does not refuse. */
  valid: number;
  understood: number;
  /** Values that were compared, and those of them that the translation leaves to the solver. */
  values: number;
  open: number;
  /** Questions that the solver did not answer. */
  undecided: number;
  /** Expressions of which the translation excludes the value that PostgreSQL shows; together, if each by itself is possible. */
  differences: readonly string[];
};

/** Expressions whose unknown parts may be one symbol are judged together. */
const together = 20;

const base = `
  create role client nologin;
  create schema app; create schema judge;
  grant usage on schema app, judge to client;
  create type app.mood as enum ('sad', 'glad');
  create type app.part as (a int, b text);
  create domain app.two as app.part;
  create table app.cells (id int not null, ${columns.map((column) => column.join(' ')).join(', ')});
  create table app.others (id int not null, ${columns.map((column) => column.join(' ')).join(', ')});
  alter table app.others enable row level security;
  grant select on app.cells, app.others to client;
  create function app.t() returns int language sql stable as $$ select nullif(current_setting('app.t', true), '')::int $$;
  create function app.u() returns uuid language sql stable as $$ select nullif(current_setting('app.u', true), '')::uuid $$;

  create function judge.valid(expressions text[]) returns text[] language plpgsql as $$
    declare valid text[] := '{}'; expression text;
    begin
      foreach expression in array expressions loop
        begin
          execute pg_catalog.format('prepare judged as select (%s)::boolean as c, id from app.cells', expression);
          deallocate judged;
          valid := valid || expression;
        exception when others then null;
        end;
      end loop;
      return valid;
    end $$;

  -- The value for each row: true, false, null or error. An error of one row is none of another.
  create function judge.answers(count int) returns text[] language plpgsql as $$
    declare
      query constant text := 'select case when c then ''t'' when not c then ''f'' else ''n'' end from (
        select c from app.judged_%s where id operator(pg_catalog.=) any (array[%s]) order by id offset 0) as shown';
      answers text[] := '{}'; answer text; value text; ids int[] := array(select id from app.cells order by id);
    begin
      for number in 0 .. count - 1 loop
        begin
          execute pg_catalog.format('select pg_catalog.string_agg(a, '''') from (' || query || ') as all_rows (a)', number, pg_catalog.array_to_string(ids, ',')) into answer;
        exception when others then
          answer := '';
          for place in 1 .. pg_catalog.cardinality(ids) loop
            begin
              execute pg_catalog.format(query, number, ids[place]) into strict value;
            exception when others then value := 'e';
            end;
            answer := answer || value;
          end loop;
        end;
        answers := answers || answer;
      end loop;
      return answers;
    end $$;
  grant execute on all functions in schema judge to client;`;

const claims = [
  { name: 't', setting: 'app.t', type: 'int4' },
  { name: 'u', setting: 'app.u', type: 'uuid' },
];

/** An empty database, and the translation in a folder. */
export async function startJudging(folder: string) {
  const id = randomUUID().replaceAll('-', '');
  await asAdministrator(`create database judge_${id} template template0`);
  const database = openTestDatabase(`judge_${id}`);
  const translation = await loadTranslation(folder);
  const [parser, solver] = [await translation.loadParser(), await translation.openSolver()];
  const role = `client_${id.slice(0, 8)}`;
  const named = (text: string) => text.replaceAll(/\bclient\b/g, role);

  /** Has PostgreSQL and the translation evaluate the expressions, and compares them. */
  async function judge(drawn: Expressions): Promise<Outcome> {
    const client = await database.owner.connect();
    try {
      await client.query(`begin; set local jit = off; set local check_function_bodies = off; ${named(base)}`);
      await create(client, drawn, named);
      const texts = drawn.expressions.map(named);
      const { rows: found } = await client.query('select judge.valid($1) as valid', [texts]);
      const valid: string[] = found[0].valid;
      if (valid.length === 0) return none;
      const catalogue = await translation.readCatalogue({ client, roles: [role], claims, invariants: [] });
      await client.query(
        valid
          .map(
            (text, index) =>
              `create view app.judged_${index} with (security_invoker) as select (${text})::boolean as c, id from app.cells`,
          )
          .join(';'),
      );
      await client.query(`grant select on all tables in schema app to ${role}`);
      const { rows: views } = await client.query(
        `select pg_get_viewdef(('app.judged_' || number)::regclass) as definition from generate_series(0, $1) number order by number`,
        [valid.length - 1],
      );
      const facts = await readFacts(client);
      await client.query(`set local search_path = "$user", public; ${drawn.settings}; set local role ${role}`);
      const { rows: answered } = await client.query('select judge.answers($1) as answers', [valid.length]);
      const { rows: set } = await client.query(
        `select ${[...claims.map(({ setting }) => setting), 'app.other'].map((name) => `current_setting('${name}', true) as "${name}"`).join(', ')}`,
      );
      const question = {
        catalogue,
        definitions: views.map(({ definition }) => definition),
        answers: answered[0].answers,
        valid,
      };
      return await compare(question, { ...facts, settings: set[0] });
    } finally {
      await client.query('rollback');
      client.release();
    }
  }

  type Question = {
    catalogue: Awaited<ReturnType<Modules['readCatalogue']>>;
    definitions: readonly string[];
    answers: readonly string[];
    valid: readonly string[];
  };

  async function compare({ catalogue, definitions, answers, valid }: Question, facts: Facts): Promise<Outcome> {
    const outcome = { ...none, differences: [] as string[] };
    const targets = definitions.map((definition) => parser.query(definition).targetList?.[0]);
    for (let from = 0; from < valid.length; from += together) {
      const { Problem, createEnvironment, rowOf, scopeOf, translateWhole } = translation;
      const problem = new Problem();
      const cells = catalogue.relations.get('app.cells');
      if (!cells) throw new Error('There is no table app.cells.');
      const row = { name: 'row', sort: problem.sort(cells.name) };
      const scope = scopeOf(cells, rowOf(cells, row, problem));
      const translated: Translated[] = [];
      for (const [index, text] of valid.slice(from, from + together).entries()) {
        const target = targets[from + index];
        if (!target || !('ResTarget' in target) || !target.ResTarget.val)
          throw new Error(`There is no column ${from + index}.`);
        const env = { ...createEnvironment({ catalogue, parser, claims }, problem, role, text), variables: [row] };
        problem.denied.clear();
        outcome.valid++;
        try {
          const { isNull, value } = translateWhole(target.ResTarget.val, scope, env);
          if (problem.denied.size > 0) continue;
          outcome.understood++;
          translated.push({ text, isNull: termOf(isNull), value: termOf(value), answer: answers[from + index] ?? '' });
        } catch (error) {
          if ((error as Error).name !== 'TooLarge') throw error;
        }
      }
      const world = worldOf(facts, problem.literals);
      const groups: Group[] = [];
      for (const one of translated) {
        const constraints = constraintsOf(one, world);
        if (!constraints) {
          outcome.undecided++;
          continue;
        }
        groups.push({ text: one.text, constraints });
        outcome.values += constraints.length;
        outcome.open += constraints.filter((one) => typeof one === 'object').length;
      }
      const script = scriptOf(problem.script('true'), world);
      const found = await differencesIn(groups, script);
      outcome.differences.push(...found.differences);
      outcome.undecided += found.undecided;
    }
    return outcome;
  }

  /** Each by itself, and if each is possible, all together. */
  async function differencesIn(groups: readonly Group[], script: (constraints: readonly Ground[]) => string) {
    const differences = groups.filter(({ constraints }) => constraints.includes(false)).map(({ text }) => text);
    const left = groups.filter(({ constraints }) => constraints.some((one) => typeof one === 'object'));
    if (differences.length > 0 || left.length === 0) return { differences, undecided: 0 };
    const ask = async (some: readonly Group[]) =>
      (await solver.solve(script(some.flatMap((one) => one.constraints)))).status;
    const status = await ask(left);
    if (status !== 'unsat') return { differences, undecided: Number(status === 'unknown') };
    for (const one of left) if ((await ask([one])) === 'unsat') differences.push(one.text);
    if (differences.length === 0) differences.push(await smallestOf(left, ask));
    return { differences, undecided: 0 };
  }

  const stop = async () => {
    await solver.close();
    await database.drop();
  };
  return { judge, stop };
}

const none: Outcome = { valid: 0, understood: 0, values: 0, open: 0, undecided: 0, differences: [] };

type Ground = boolean | { readonly text: string };
type Group = { readonly text: string; readonly constraints: readonly Ground[] };
type Translated = { text: string; isNull: Term; value: Term; answer: string };

const termOf = (text: string): Term => parseTerms(text)[0] ?? 'false';

/** A subset of which no part can be left out. */
async function smallestOf(groups: readonly Group[], ask: (some: readonly Group[]) => Promise<string>): Promise<string> {
  let left = groups;
  for (const one of groups) {
    const fewer = left.filter((other) => other !== one);
    if ((await ask(fewer)) === 'unsat') left = fewer;
  }
  return left.map(({ text }) => text).join(' TOGETHER WITH ');
}

async function create(client: ClientBase, { statements, cells, others }: Expressions, named: (text: string) => string) {
  const insert = (table: string, rows: readonly string[]) =>
    `insert into app.${table} values ${rows.map((row, index) => `(${index + 1}, ${row})`).join(', ')}`;
  for (const statement of [...statements, insert('cells', cells), insert('others', others)]) {
    await client.query('savepoint drawn');
    // PostgreSQL refuses some functions and policies; expressions that use them are no valid ones.
    await client.query(named(statement)).catch(() => client.query('rollback to savepoint drawn'));
  }
  await client.query('grant select on all tables in schema app to client'.replace('client', named('client')));
}

type Cell = { readonly value: string; readonly elements: readonly (string | null)[] | null } | null;
type Facts = {
  /** The rows of each table: each cell by its column. */
  readonly tables: Readonly<Record<string, readonly Readonly<Record<string, Cell>>[]>>;
  readonly settings: Readonly<Record<string, string | null>>;
};

/** What stands for a value in the translation: the number of an integer or a moment, and else a text. */
const written: Readonly<Record<string, (column: string) => string>> = {
  date: (column) => `case when isfinite(${column}) then (${column} - '2000-01-01')::text else ${infinite(column)} end`,
  timestamp: (column) =>
    `case when isfinite(${column}) then trunc(extract(epoch from ${column}) * 1000000)::text else ${infinite(column)} end`,
  bpchar: (column) => `to_jsonb(${column})::text`,
};
const infinite = (column: string) =>
  `case when ${column} > '2000-01-01' then '1000000000000000000' else '-1000000000000000000' end`;

async function readFacts(client: ClientBase): Promise<Omit<Facts, 'settings'>> {
  const all = [[filled, 'int'] as const, ...columns];
  const cellOf = ([name, type]: readonly [string, string]) => {
    const value = (written[type] ?? written[type.replace('tz', '')] ?? ((column: string) => `${column}::text`))(name);
    const elements = type.endsWith('[]')
      ? `(select coalesce(jsonb_agg(e::text), '[]') from unnest(${name}) e)`
      : 'null';
    return `'${name}', case when ${name}::text is not null then jsonb_build_object('value', ${value}, 'elements', ${elements}) end`;
  };
  // A function takes a hundred arguments.
  const tables: Record<string, Record<string, Cell>[]> = {};
  for (const table of ['cells', 'others']) {
    const { rows } = await client.query<{ row: Record<string, Cell> }>(
      `select jsonb_build_object(${all.map(cellOf).join(', ')}) as row from app.${table} order by id`,
    );
    tables[table] = rows.map(({ row }) => row);
  }
  return { tables };
}

type Known = World & {
  readonly numbers: readonly bigint[];
  readonly arrays: ReadonlyMap<string, readonly (readonly [bigint, Elements])[]>;
};
type Elements = { readonly values: ReadonlySet<bigint>; readonly hasNull: boolean };

const typesOf = new Map<string, string>([[filled, 'int'], ...columns]);
const canonical: Readonly<Record<string, string>> = { 'int[]': 'int4[]' };

/** The rows and settings as the translation names them. */
function worldOf({ tables, settings }: Facts, literals: ReadonlyMap<string, string>): Known {
  const ofLiterals = new Map([...literals].map(([number, text]) => [text, BigInt(number)]));
  const others = new Map<string, bigint>();
  const numberOf = (type: string, text: string): bigint => {
    if (/^(int|bigint|date|timestamp|timestamptz)$/.test(type)) return BigInt(text);
    const isText = /^(text|name|app\.mood)$/.test(type);
    const literal = isText ? ofLiterals.get(text) : undefined;
    if (literal !== undefined) return literal;
    const key = `${isText ? 'text' : type}:${text}`;
    const number = others.get(key) ?? BigInt(1_000_000 + others.size);
    others.set(key, number);
    return number;
  };
  const values = new Map<string, readonly (boolean | bigint | null)[]>();
  const arrays = new Map<string, Map<bigint, Elements>>();
  // A quantified variable may be any of these. An element that is not known may be any literal.
  const numbers = new Set<bigint>([-1n, 0n, 1n, 2n, 7n, 999_999n, ...ofLiterals.values()]);
  for (const [table, rows] of Object.entries(tables))
    for (const [name, type] of typesOf) {
      const column = rows.map((row) => {
        const cell = row[name];
        if (!cell) return null;
        if (type === 'boolean') return cell.value === 'true';
        const number = numberOf(type, cell.value);
        if (cell.elements) {
          const elements = cell.elements.filter((one) => one !== null).map((one) => numberOf(type.slice(0, -2), one));
          for (const element of elements) numbers.add(element);
          const key = canonical[type] ?? type;
          const known = arrays.get(key) ?? new Map<bigint, Elements>();
          arrays.set(key, known.set(number, { values: new Set(elements), hasNull: cell.elements.includes(null) }));
        } else if (/^(text|uuid)$/.test(type)) numbers.add(number);
        return number;
      });
      values.set(`app.${table}.${name}`, column);
    }
  const apply = (symbol: string, args: readonly bigint[]): boolean | bigint | undefined => {
    const name = symbol.replaceAll('|', '');
    const index = Number(args[0] ?? 0n);
    if (name.startsWith('in app.')) return true;
    const isNull = name.startsWith('null app.');
    const column = values.get(isNull ? name.slice('null '.length) : name);
    if (column) {
      const value = column[index] ?? null;
      // What a null has beside says nothing.
      return isNull ? value === null : (value ?? undefined);
    }
    const [, setting, suffix] = /^setting (.*?)( is null)?$/.exec(name) ?? [];
    if (setting !== undefined && setting in settings) {
      const value = settings[setting] ?? null;
      return suffix ? value === null : value === null ? undefined : numberOf('text', value);
    }
    const [, kind, type = ''] = /^(element of|null in) (.*)$/.exec(name) ?? [];
    const elements = args[0] === undefined ? undefined : arrays.get(type)?.get(args[0]);
    if (!kind || !elements) return undefined;
    return kind === 'null in' ? elements.hasNull : elements.values.has(args[1] ?? 0n);
  };
  for (const value of Object.values(settings)) if (value) numberOf('text', value);
  return {
    apply,
    budget: maxTerms,
    numbers: [...numbers],
    arrays: new Map([...arrays].map(([type, known]) => [type, [...known]])),
    elementsOf(sort) {
      if (sort === 'Int') return [...numbers];
      const rows = tables[sort.replace(/^\|app\.(.*)\|$/, '$1')];
      // Two rows of what is not understood, each with any values.
      return rows ? rows.map((_, index) => BigInt(index)) : [0n, 1n];
    },
  };
}

/** As many as an expression needs by far; nested quantifiers over all values need more. */
const maxTerms = 1_000_000;

/** For each row whose value PostgreSQL shows: the translation yields it. Null of what has too many terms. */
function constraintsOf({ isNull, value, answer }: Translated, world: World): Ground[] | null {
  world.budget = maxTerms;
  try {
    return [...answer].flatMap((shown, index): Ground[] => {
      if (shown === 'e') return [];
      const term: Term = shown === 'n' ? isNull : ['and', ['not', isNull], shown === 't' ? value : ['not', value]];
      const ground = evaluate(term, new Map([['row', BigInt(index)]]), world);
      if (typeof ground === 'bigint') throw new Error(`${textOf(ground)} is no condition.`);
      return [ground];
    });
  } catch (error) {
    if (error instanceof TooLong) return null;
    throw error;
  }
}

/** The question whether constraints are possible together, under the axioms of a script of the translation. */
function scriptOf(script: string, world: Known): (constraints: readonly Ground[]) => string {
  world.budget = Number.POSITIVE_INFINITY;
  const lines = script.split('\n').slice(0, -1);
  const declarations = lines
    .filter((line) => line.startsWith('(declare-'))
    .map((line) => line.replace(/^\(declare-sort (\|[^|]*\|) 0\)/, '(define-sort $1 () Int)'));
  const axioms = lines
    .filter((line) => line.startsWith('(assert '))
    .map((line) => textOf(evaluate(termOf(line.slice('(assert '.length, -1)), new Map(), world)));
  const isDeclared = (name: string) => declarations.some((line) => line.startsWith(`(declare-fun |${name}| `));
  const elements = [...world.arrays].flatMap(([type, known]) =>
    isDeclared(`element of ${type}`)
      ? known.flatMap(([array, { values, hasNull }]) => [
          `(= (|null in ${type}| ${array}) ${hasNull})`,
          ...world.numbers.map(
            (number) => `(= (|element of ${type}| ${array} ${textOf(number)}) ${values.has(number)})`,
          ),
        ])
      : [],
  );
  const asserted = [...axioms, ...elements].filter((text) => text !== 'true');
  return (constraints) =>
    [
      ...declarations,
      ...[...new Set([...asserted, ...constraints.filter((one) => one !== true).map(textOf)])].map(
        (text) => `(assert ${text})`,
      ),
    ].join('\n');
}
