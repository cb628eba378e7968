import type { PoolClient } from 'pg';

/** A row by its table, written as a `regclass`, and its key as JSON. */
export type RowKey = { readonly relation: string; readonly key: string };

export type Explanation = {
  readonly sentences: readonly string[];
  /** Each part of each policy's expression, as it holds for the row when the principal asks. */
  readonly parts: readonly { readonly policy: string; readonly part: string; readonly holds: boolean }[];
};

/**
 * Access explanation: whether a principal sees a row, by trying, and which policy decided (`audit.explain_access`).
 *
 * @param client as the owner, in a transaction that is rolled back
 * @param type what the row is in the graph
 * @throws {NoSuchRowError} for a row that is not known to be of the principal's organization, and that the principal does not see
 * @throws PostgreSQL's error when there is no such row or principal
 */
export async function explainRow(
  client: PoolClient,
  principal: string,
  type: string,
  { relation, key }: RowKey,
): Promise<Explanation> {
  const [access] = (await client.query<Access>(accessText, [principal, relation, key])).rows;
  if (!access || !(access.isOwn || access.outcome === 'allowed')) throw new NoSuchRowError();
  const object = access.label === null ? `this ${type}` : `the ${type} “${access.label}”`;
  const parts = access.policies.flatMap(({ policy, parts }) => parts.map((part) => ({ policy, ...part })));
  return { sentences: describe(access, object, tableName(relation)), parts };
}

/** Another organization's row is refused like one that is not there, so that its existence stays unknown. */
export class NoSuchRowError extends Error {}

/** For people: without the quotes of a `regclass`. */
export const tableName = (relation: string): string => relation.replaceAll('"', '');

type Policy = {
  readonly policy: string;
  readonly rule: string | null;
  readonly permissive: boolean;
  readonly parts: readonly { readonly part: string; readonly holds: boolean }[];
};

type Access = {
  readonly name: string;
  readonly role: string;
  readonly outcome: string;
  /** Whether the row has the organization of the principal; null when it has no such column. */
  readonly isOwn: boolean | null;
  /** What people call the row; null when it has no name. */
  readonly label: string | null;
  readonly through: string | null;
  readonly policies: readonly Policy[];
};

/** Of `audit.explain_access` what decides about `select`. Each of its rows has the outcome of the same attempt. */
const accessText = `
  select
    who.name, who.role, value ->> 'organization_id' = who.organization_id::text as "isOwn", coalesce(value ->> 'full_name', value ->> 'name') as label,
    audit.reason_of(who, $2::text::regclass, value) as through, access.outcome, access.policies
  from audit.find_principal($1) as who, audit.find_row($2::text::regclass, $3) as value, lateral (
    select
      coalesce(min(e.outcome), 'not granted') as outcome,
      coalesce(jsonb_agg(to_jsonb(e) order by e.policy) filter (where e.policy is not null), '[]') as policies
    from (
      select
        explained.outcome, explained.policy, explained.rule, coalesce(p.permissive, true) as permissive,
        jsonb_agg(jsonb_build_object('part', explained.part, 'holds', explained.holds)) as parts
      from audit.explain_access($1, $2::text::regclass, $3) as explained
      left join audit.policies p on p.relation = $2::text::regclass and p.policy = explained.policy
      where explained.command = 'select'
      group by explained.outcome, explained.policy, explained.rule, p.permissive
    ) as e
  ) as access
  where coalesce(value ->> 'organization_id' = who.organization_id::text, true)`;

/** PostgreSQL's rule: a row is seen when one permissive policy holds, and every restrictive one. */
function describe({ name, role, outcome, through, policies }: Access, object: string, table: string): string[] {
  const who = `${name} (${role})`;
  const permissive = policies.filter((policy) => policy.permissive);
  if (outcome === 'allowed') {
    const granting = permissive.filter(holds).map(inWords).join(' and ');
    const why = granting ? `${granting} on ${table} lets it through` : `no policy hides rows of ${table}`;
    const sentence = `${who} sees ${object}, since ${why}.`;
    return through === null ? [sentence] : [sentence, `Access comes from: ${through}.`];
  }
  const hidden = `${who} does not see ${object}`;
  if (outcome === 'not granted') return [`${hidden}: the role has no right to select from ${table}.`];
  const hiding = policies.find((policy) => !policy.permissive && !holds(policy));
  if (hiding) return [`${hidden}: ${inWords(hiding)} on ${table} hides it, and every row must pass that policy.`];
  if (permissive.length === 0) return [`${hidden}: no policy on ${table} is for this role.`];
  return [
    `${hidden}: no policy on ${table} lets it through.`,
    ...permissive.map((policy) => `${inWords(policy)} does not hold.`),
  ];
}

const holds = ({ parts }: Policy) => parts.every((part) => part.holds);

const inWords = ({ policy, rule }: Policy) =>
  `${policy} (${rule === null ? 'without a comment' : `“${rule.replace(/\.$/, '')}”`})`;
