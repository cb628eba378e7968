// The proof of the judges by mutation testing: each fault that is planted in the translation is found, and by how many draws.
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { seed } from '../../../test/support/search.ts';
import { createSourceCopy } from '../../../test/support/sourceCopy.ts';
import { attack } from './attack.ts';
import { expressionsIn } from './expressions/draw.ts';
import { startJudging } from './expressions/judge.ts';
import { schemas } from './schemas.ts';
import { startProving } from './support.ts';

type Fault = { readonly name: string; readonly file: string; readonly from: string; readonly to: string };

const [mostExpressions, mostSchemas] = [Number(process.env.EXPRESSIONS || 10_000), Number(process.env.SCHEMAS || 500)];

/** In the meaning of expressions. */
const ofExpressions: readonly Fault[] = [
  {
    ...{ name: 'false and null is null', file: 'formula.ts' },
    from: 'and(not(anyFalse), or(...parts.map((part) => part.isNull))));',
    to: 'or(...parts.map((part) => part.isNull)));',
  },
  {
    ...{ name: 'null is distinct from null', file: 'expression.ts' },
    from: 'and(first.isNull, not(second.isNull)),',
    to: 'first.isNull,',
  },
  {
    ...{ name: 'less is less or equal', file: 'expression.ts' },
    from: "'<': (a, b) => `(< ",
    to: "'<': (a, b) => `(<= ",
  },
  {
    ...{ name: 'numbers that are equal are the same', file: 'readCatalogue.ts' },
    from: "'xid8', 'pg_lsn')",
    to: "'xid8', 'pg_lsn', 'numeric')",
  },
  {
    ...{ name: 'each collation tells texts from each other', file: 'readCatalogue.ts' },
    from: 'and (t.typcollation = 0 or not exists (select from pg_collation where not collisdeterministic))',
    to: '',
  },
  {
    ...{ name: 'a time that is rounded is the same time', file: 'expression.ts' },
    from: "return open('a time', env);",
    to: "return env.problem.applied('a time', 'timestamptz', []);",
  },
  {
    ...{ name: 'null of JSON is no null of another type', file: 'expression.ts' },
    from: "isEmpty, from === undefined ? made.isNull : 'false')",
    to: 'isEmpty)',
  },
  {
    ...{ name: 'a composite of nulls is not null', file: 'expression.ts' },
    from: "if (!isSimple && value.kind === 'scalar'",
    to: "if (false && !isSimple && value.kind === 'scalar'",
  },
  {
    ...{ name: 'a volatile function yields the same twice', file: 'functions.ts' },
    from: 'const isSame = isImmutable ||',
    to: 'const isSame = true ||',
  },
  {
    ...{ name: 'a name is a whole text', file: 'expression.ts' },
    from: "from === to && type !== 'name')",
    to: 'from === to)',
  },
  {
    ...{ name: 'a strict function is called with null', file: 'functions.ts' },
    from: "choose(hasNull, 'true', value.isNull)",
    to: 'value.isNull',
  },
  {
    ...{ name: 'true or null is null', file: 'formula.ts' },
    from: 'and(not(anyTrue), or(...parts.map((part) => part.isNull))));',
    to: 'or(...parts.map((part) => part.isNull)));',
  },
  {
    ...{ name: 'no element of an array is null', file: 'expression.ts' },
    from: 'and(hasNull, condition(nothing(type))),',
    to: "'false',",
  },
  {
    ...{ name: 'a restrictive policy means nothing', file: 'access.ts' },
    from: 'and(or(...permissive), ...restrictive)',
    to: 'or(...permissive)',
  },
  {
    ...{ name: 'each view has the rights of its owner', file: 'scope.ts' },
    from: '!isInvoker ? owner : actor',
    to: 'true ? owner : actor',
  },
  {
    ...{ name: 'a left join leaves rows out', file: 'queries.ts' },
    from: "jointype === 'JOIN_LEFT' || jointype === 'JOIN_FULL' ? alone(larg, rarg)",
    to: "jointype === 'JOIN_FULL' ? alone(larg, rarg)",
  },
  {
    ...{ name: 'what contains is what is contained', file: 'expression.ts' },
    from: "operator === '<@' ? [second, first] : [first, second]",
    to: '[first, second]',
  },
  {
    ...{ name: 'nullif of null is not null', file: 'expression.ts' },
    from: 'or(value.isNull, isTrue(equality(value, second, env)))',
    to: 'isTrue(equality(value, second, env))',
  },
];

/** In what schemas do beside expressions. */
const ofSchemas: readonly Fault[] = [
  {
    ...{ name: 'a place calls no function', file: 'effects.ts' },
    from: 'if (called) return',
    to: 'if (false && called) return',
  },
  {
    ...{ name: 'no action of a foreign key changes a row', file: 'questions.ts' },
    from: "if (command !== 'delete' && command !== 'update') return 'false';",
    to: "if (command !== 'never') return 'false';",
  },
  {
    ...{ name: 'a rule does nothing', file: 'effects.ts' },
    from: 'if (place.unknown !== null) return place.unknown;',
    to: '',
  },
];

const byName = (faults: readonly Fault[]) => faults.map((fault) => [fault.name, fault] as const);
const found: string[] = [];

let root: string;
let copies = 0;
/** Without a fault: what a fault shows must not be found there. */
let whole: { expressions: Awaited<ReturnType<typeof startJudging>>; schemas: Awaited<ReturnType<typeof startProving>> };
beforeAll(async () => {
  process.stdout.write(`Drawn with SEED=${seed}\n`);
  root = await createSourceCopy(['packages/rls-prover']);
  whole = { expressions: await startJudging(join(root, 'packages/rls-prover/src')), schemas: await startProving() };
});
afterAll(async () => {
  process.stdout.write(`${found.join('\n')}\n`);
  await Promise.all([whole.expressions.stop(), whole.schemas.stop()]);
  await rm(root, { recursive: true });
});

/** A copy of the prover for each fault, since Node loads a file once. */
async function plant({ file, from, to }: Fault): Promise<string> {
  const folder = join(root, 'packages/rls-prover', `fault-${++copies}`);
  await cp(join(root, 'packages/rls-prover/src'), folder, { recursive: true });
  const text = await readFile(join(folder, file), 'utf8');
  if (text.split(from).length !== 2) throw new Error(`${file} has not once: ${from}`);
  await writeFile(
    join(folder, file),
    text.replace(from, () => to),
  );
  return folder;
}

test.each(byName(ofExpressions))(
  'found by expressions: %s',
  async (name, fault) => {
    const judging = await startJudging(await plant(fault));
    try {
      let drawn = 0;
      let differences: readonly string[] = [];
      for (const expressions of drawnOf(expressionsIn(100))) {
        drawn += expressions.expressions.length;
        differences = (await judging.judge(expressions)).differences;
        if (differences.length > 0) expect((await whole.expressions.judge(expressions)).differences).toEqual([]);
        if (differences.length > 0 || drawn >= mostExpressions) break;
      }

      report(`${String(drawn).padStart(6)} expressions: ${name}: ${differences[0]?.slice(0, 120)}`);
      expect(differences).not.toEqual([]);
    } finally {
      await judging.stop();
    }
  },
  3_600_000,
);

test.each(byName(ofSchemas))(
  'found by schemas: %s',
  async (name, fault) => {
    const folder = await plant(fault);
    const proving = await startProving({ load: () => import(join(folder, 'index.ts')) });
    try {
      let drawn = 0;
      let broken: readonly string[] = [];
      for (const schema of drawnOf(schemas)) {
        drawn += 1;
        broken = (await attack(proving, schema)).broken;
        if (broken.length > 0) expect((await attack(whole.schemas, schema)).broken).toEqual([]);
        if (broken.length > 0 || drawn >= mostSchemas) break;
      }

      report(`${String(drawn).padStart(6)} schemas: ${name}: ${broken[0]?.slice(0, 120)}`);
      expect(broken).not.toEqual([]);
    } finally {
      await proving.stop();
    }
  },
  3_600_000,
);

function* drawnOf<Value>(arbitrary: fc.Arbitrary<Value>): Generator<Value> {
  for (let round = 0; ; round++) yield* fc.sample(arbitrary, { seed: seed + round, numRuns: 10 });
}

function report(line: string): void {
  found.push(line);
  process.stdout.write(`${line}\n`);
}
