import { escapeIdentifier } from 'pg';
import type { Catalogue, Policy, Relation } from './catalogue.ts';
import { commands } from './goals.ts';
import type { MutationOptions } from './interface.ts';

/** One change to the schema, and the expression of a policy before and after it. */
export type Mutant = {
  name: string;
  statement: string;
  relation: Relation;
  roles: readonly string[];
  /** The command that it grants; else a policy or all of the table is weakened. */
  granted?: string;
  expressions?: readonly [string, string];
};

/** The weaker policies and rights, one at a time. A right for which there is no policy opens nothing, and is left out. */
export function mutantsOf(catalogue: Catalogue, options: MutationOptions): Mutant[] {
  const { roles, isWeakened = () => true } = options;
  const mutants: Mutant[] = [];
  for (const relation of catalogue.relations.values()) {
    if (relation.kind !== 'table' || !isWeakened(relation.name)) continue;
    const policies = relation.policies.filter((policy) => policy.roles.some((role) => roles.includes(role)));
    for (const policy of policies) mutants.push(...mutantsOfPolicy(relation, policy, options));
    if (policies.length > 0) {
      const of = { relation, roles };
      mutants.push({
        ...of,
        name: `${relation.name}: row-level security off`,
        statement: `alter table ${relation.name} disable row level security`,
      });
      mutants.push({
        ...of,
        name: `${relation.name}: not forced`,
        statement: `alter table ${relation.name} no force row level security`,
      });
    }
    for (const role of roles)
      for (const command of commands)
        if (relation.privileges[`${command} ${role}`]?.length === 0 && opens(relation, command, role, catalogue))
          mutants.push({
            ...{ name: `${relation.name}: ${command} granted to ${role}`, relation, roles: [role], granted: command },
            statement: `grant ${command} on ${relation.name} to ${role}`,
          });
  }
  return mutants;
}

/** Whether a right opens anything: truncating asks no policy, and without one the rest finds no row. */
const opens = (relation: Relation, command: string, role: string, { roles }: Catalogue) =>
  command === 'truncate' ||
  relation.rowSecurity === 'off' ||
  relation.policies.some(
    (policy) =>
      (policy.command === command || policy.command === 'all') &&
      policy.roles.some((of) => of === 'public' || roles.get(role)?.has.includes(of)),
  );

function mutantsOfPolicy(relation: Relation, policy: Policy, { roles, swaps = [] }: MutationOptions): Mutant[] {
  const altered = (part: 'using' | 'with check', before: string, after: string, how: string): Mutant => ({
    name: `${policy.name} on ${relation.name}: ${part} ${how}`,
    statement: `alter policy ${escapeIdentifier(policy.name)} on ${relation.name} ${part} (${after})`,
    relation,
    roles: policy.roles.filter((role) => roles.includes(role)),
    expressions: [before, after],
  });
  const mutants: Mutant[] = [];
  for (const [part, text] of [
    ['using', policy.using],
    ['with check', policy.check],
  ] as const) {
    if (text === null) continue;
    const parts = conjunctsOf(text);
    if (text !== 'true') mutants.push(altered(part, text, 'true', 'is true'));
    if (parts.length > 1)
      for (const dropped of parts)
        mutants.push(altered(part, text, parts.filter((one) => one !== dropped).join(' and '), `without ${dropped}`));
    for (const [claim, other] of swaps)
      if (text.includes(claim))
        mutants.push(altered(part, text, text.replaceAll(claim, other), `with ${other} for ${claim}`));
  }
  mutants.push({
    ...{ name: `${policy.name} on ${relation.name}: to public`, relation, roles },
    statement: `alter policy ${escapeIdentifier(policy.name)} on ${relation.name} to public`,
  });
  return mutants;
}

/**
 * The parts of an expression that must all hold.
 * `pg_get_expr` writes a conjunction in parentheses.
 */
function conjunctsOf(expression: string): string[] {
  if (!expression.startsWith('(')) return [expression];
  const parts: string[] = [];
  let depth = 0;
  let quote = '';
  let start = 1;
  for (let index = 0; index < expression.length; index++) {
    const character = expression.charAt(index);
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === "'" || character === '"') quote = character;
    else if (character === '(') depth++;
    else if (character === ')') depth--;
    else if (depth === 1 && expression.startsWith(' AND ', index)) {
      parts.push(expression.slice(start, index));
      start = index + ' AND '.length;
    }
  }
  return parts.length === 0 ? [expression] : [...parts, expression.slice(start, -1)];
}
