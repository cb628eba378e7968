import type { Relation } from './catalogue.ts';
import { compare } from './comparisons.ts';
import { translateWhole } from './expression.ts';
import { and, isFalse, isTrue, not } from './logic.ts';
import { NotUnderstood } from './parse.ts';
import { exists, forAll } from './problem.ts';
import { type Environment, everything, isMember, type Row, rowOf, scopeOf } from './scope.ts';

/**
 * The facts about every row of a table: its validated checks are not false.
 * That columns are not null is in `rowOf`.
 *
 * Sound: it is true of every row, so that it may stand beside the condition that the row is in the table, below a negation, too. A check was
 * true when the row was written: PostgreSQL's own immutable functions still yield the same; one with anything else is left out.
 */
export function rowFacts(relation: Relation, row: Row, env: Environment): string {
  const within = { ...env, actor: everything, isFact: true, isImmutable: true };
  const scope = scopeOf(relation, row);
  const facts = relation.checks.map((check) =>
    understood(() => not(isFalse(translateWhole(env.parser.expression(check), scope, { ...within, source: check })))),
  );
  return and(...facts);
}

/** The fact, or nothing when a part of it could be anything. */
function understood(fact: () => string): string {
  try {
    return fact();
  } catch (error) {
    if (error instanceof NotUnderstood) return 'true';
    throw error;
  }
}

/**
 * The facts that follow from a row's foreign keys: the row that it refers to exists, and a key belongs to one row.
 *
 * Sound: only validated foreign keys count, and keys that hold at once. A row that is written satisfies them, or the statement fails.
 */
export function referenceFacts(relation: Relation, row: Row, env: Environment): string {
  const { catalogue, problem } = env;
  const facts = relation.foreignKeys.map((key) => understood(() => referenceFact(key)));
  return and(...facts);

  function referenceFact({ columns, references, referenced }: Relation['foreignKeys'][number]): string {
    const target = catalogue.relations.get(references);
    if (target?.kind !== 'table') return 'true';
    // A foreign key of periods asks for something else than equality.
    const isEquality = columns.every((name) =>
      catalogue.families.has(relation.columns.find((column) => column.name === name)?.type ?? ''),
    );
    if (!isEquality) return 'true';
    assumeKeys(target, env);
    const variable = problem.variable(problem.sort(references));
    const other = rowOf(target, variable, problem);
    const pairs = columns.map((name, index) => {
      const [from, to] = [row.column(name), other.column(referenced[index] ?? '')];
      return from && to
        ? { isNull: from.isNull, isSame: isTrue(compare('=', from, to, { ...env, isFact: true })) }
        : { isNull: 'true', isSame: 'true' };
    });
    const isReferring = and(...pairs.map(({ isNull }) => not(isNull)));
    const found = exists(variable, and(isMember(target, variable, env), ...pairs.map(({ isSame }) => isSame)));
    return isReferring === 'true' ? found : `(=> ${isReferring} ${found})`;
  }
}

function assumeKeys(relation: Relation, env: Environment): void {
  const { problem } = env;
  const sort = problem.sort(relation.name);
  const [first, second] = [
    { name: 'first', sort },
    { name: 'second', sort },
  ];
  const [a, b] = [rowOf(relation, first, problem), rowOf(relation, second, problem)];
  for (const key of relation.keys) {
    const values = key.map((name) => [a.column(name), b.column(name)] as const);
    if (!values.every(([left]) => left && env.catalogue.families.has(left.type))) continue;
    const isSame = values.map(([left, right]) =>
      left && right ? isTrue(compare('=', left, right, { ...env, isFact: true })) : 'false',
    );
    const areMembers = and(isMember(relation, first, env), isMember(relation, second, env));
    problem.assume(forAll([first, second], `(=> ${and(areMembers, ...isSame)} (= first second))`));
  }
}
