import { randomInt } from 'node:crypto';
import { ask, type Tenant } from './support.ts';

const workers = 20;
const names = 60;

/** Adds a chain of units, n0 on top of n1 and so on, as deep as there are names. */
export async function plantChain({ owner, organizationId }: Tenant): Promise<void> {
  for (let depth = 0; depth < names; depth++)
    await owner.query(
      `insert into app_public.units (organization_id, external_identifier, name, parent_id)
       values ($1, $2, 'Unit', (select id from app_public.units where organization_id = $1 and external_identifier = $3))`,
      [organizationId, `n${depth}`, `n${depth - 1}`],
    );
}

/**
 * Twenty clients at once add, move and delete units of one organization through the graph, while `goesOn()`.
 * A deletion may take a subtree along, and a move asks for any parent: units are not found, taken or below themselves all the time.
 *
 * @returns how often each answer came: `done`, or an error's code
 */
export async function changeTrees(graph: { url: string }, { app }: Tenant, goesOn: () => boolean) {
  const answers = new Map<string, number>();
  const change = async () => {
    while (goesOn()) {
      const { body } = await ask(graph, app, changes[randomInt(changes.length)] as string, {
        one: `n${randomInt(names)}`,
        other: `n${randomInt(names)}`,
        all: randomInt(10) === 0,
      });
      const code = body.errors?.[0]?.extensions.code ?? 'done';
      answers.set(code, (answers.get(code) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: workers }, change));
  return answers;
}

const add = `mutation ($one: String!, $other: String!) {
  unitCreate(name: "Unit", externalIdentifier: $one, parentExternalIdentifier: $other) { unit { id } } }`;
const changes = [
  add,
  add,
  'mutation ($one: String!) { unitCreate(name: "Unit", externalIdentifier: $one) { unit { id } } }',
  `mutation ($one: String!, $other: String!) {
     unitUpdate(externalIdentifier: $one, parentExternalIdentifier: $other) { unit { id } } }`,
  'mutation ($one: String!) { unitUpdate(externalIdentifier: $one, name: "Renamed") { unit { id } } }',
  'mutation ($one: String!, $all: Boolean) { unitDelete(externalIdentifier: $one, withDescendants: $all) { unit { id } } }',
];
