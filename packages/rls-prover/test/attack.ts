import type { ClientBase } from 'pg';
import { type Acceptance, isOpen, type Judgement } from 'rls-prover';
import { undone } from '../src/ExampleRows.ts';
import { acceptOpen } from './refuted/support.ts';
import type { Drawn } from './schemas.ts';
import type { startProving } from './support.ts';
import { idsIn } from './tries/show.ts';
import { findViolations, type Violation } from './violations.ts';

type Proving = Awaited<ReturnType<typeof startProving>>;

/** The judgements of a schema, and what rows show of it. `broken` are violations of what is proven. */
export type Outcome = {
  isValid: boolean;
  open: readonly Judgement[];
  violations: readonly string[];
  broken: readonly string[];
};

/**
 * Judges a schema, and tries to refute what is proven with rows.
 * A violation refutes the judgements that are about the command that showed it. If these are not known, it refutes all together.
 */
export const attack = (proving: Proving, drawn: Drawn): Promise<Outcome> =>
  proving.after('', async (client) => {
    if (!(await create(client, proving, drawn))) return { isValid: false, open: [], violations: [], broken: [] };
    const judge = (accepted: readonly Acceptance[] = []) =>
      undone(client, () =>
        proving.prove({ ...optionsOf(proving, drawn, client), accepted: [...accepted] }, proving.prover),
      );
    const judgements = await judge();
    const violations = await undone(client, () => findViolations(client, proving, drawn));
    const broken = [
      ...violations.filter((one) => isMissed(one, judgements)),
      ...(await brokenByChange(client, proving, drawn, { judgements, violations, judge })),
    ];
    return {
      isValid: true,
      open: judgements.filter(isOpen),
      violations: violations.map(lineOf),
      broken: broken.map(lineOf),
    };
  });

type Before = {
  judgements: readonly Judgement[];
  violations: readonly Violation[];
  judge: (accepted: readonly Acceptance[]) => Promise<Judgement[]>;
};

/** New violations after an accepted object was changed, if no open judgement is about them. */
async function brokenByChange(
  client: ClientBase,
  proving: Proving,
  drawn: Drawn,
  { judgements, violations, judge }: Before,
): Promise<readonly Violation[]> {
  if (drawn.change === undefined) return [];
  const acceptedSince = await acceptOpen(client, judgements);
  if (!(await create(client, proving, { ...drawn, statements: [drawn.change] }))) return [];
  const after = await judge(await acceptedSince());
  const known = new Set(violations.map(lineOf));
  return (await findViolations(client, proving, drawn)).filter(
    (one) => !known.has(lineOf(one)) && isMissed(one, after),
  );
}

/** Whether no open judgement warns of a violation: none of those that are about it, or none at all where these are not known. */
function isMissed({ goals }: Violation, judgements: readonly Judgement[]): boolean {
  // A judgement of a role is about each command.
  const about = judgements.filter((one) => goals.includes(nameOf(one)) || one.command === 'be');
  return !judgements.some(isOpen) || (about.length > 0 && !about.some(isOpen));
}

const nameOf = ({ invariant, command, relation }: Judgement) => `${invariant}: ${command} on ${relation}`;
const lineOf = ({ what, act }: Violation) => `${what} | ${act}`;

/** Without examples, so that what is not proven is not tried. */
function optionsOf({ options: { examples: _, ...options } }: Proving, { invariants }: Drawn, client: ClientBase) {
  return { ...options, client, invariants: [...options.invariants, ...invariants] };
}

async function create(client: ClientBase, { member }: Proving, { statements }: Drawn): Promise<boolean> {
  await client.query('savepoint drawn; set local check_function_bodies = off');
  try {
    await client.query(idsIn(statements.join(';')).replaceAll(/\bmember\b/g, member));
    return true;
  } catch {
    await client.query('rollback to savepoint drawn');
    return false;
  }
}
