import { passesBy } from './access.ts';
import type { Catalogue } from './catalogue.ts';
import { translateWhole } from './expression.ts';
import { and, isTrue, not, Problem } from './formula.ts';
import type { Prover } from './prover.ts';
import { createEnvironment } from './queries.ts';
import { type Environment, rowOf, scopeOf } from './scope.ts';

export type Relationship = 'equal' | 'wider' | 'narrower' | 'unclear';

/** An expression of a policy, and another one in its place, for a relation by its name with the schema. */
export type Comparison = {
  catalogue: Catalogue;
  relation: string;
  roles: readonly string[];
  before: string;
  after: string;
};

/**
 * Compares a policy's expression with another one in its place: whether each implies the other.
 * That is for all claims and rows, and each of the roles. `unclear` is both that neither does and that it could not be proven.
 */
export async function compareExpressions(
  { catalogue, relation: name, roles, before, after }: Comparison,
  { parser, solver }: Prover,
): Promise<Relationship> {
  const relation = catalogue.relations.get(name);
  if (!relation) return 'unclear';
  const isImplied = async (premise: string, conclusion: string): Promise<boolean> => {
    for (const actor of roles) {
      const problem = new Problem();
      const variable = problem.variable(problem.sort(relation.name));
      const row = rowOf(relation, variable, problem);
      const env: Environment = {
        ...createEnvironment({ catalogue, parser, claims: [] }, problem, actor, relation.name),
        ...{ asked: [relation.name], variables: [variable] },
      };
      if (passesBy(relation, env)) continue;
      const scope = scopeOf(relation, row);
      const holds = (text: string) => isTrue(translateWhole(parser.expression(text), scope, env));
      const formula = and(holds(premise), not(holds(conclusion)));
      const script = problem.script(`(exists ((${variable.name} ${variable.sort})) ${formula})`);
      if (problem.denied.size > 0) return false;
      if (formula !== 'false' && (await solver.solve(script)).status !== 'unsat') return false;
    }
    return true;
  };
  const [isNarrower, isWider] = [await isImplied(after, before), await isImplied(before, after)];
  if (isNarrower && isWider) return 'equal';
  return isNarrower ? 'narrower' : isWider ? 'wider' : 'unclear';
}
