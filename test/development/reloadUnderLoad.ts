import {
  ask,
  createTenant,
  createUnit,
  createUser,
  type OwnGraphTest,
  read,
  startGraphTest,
  type Tenant,
} from '../graphql/support.ts';
import { until } from '../support/until.ts';

/** A service of its own with a few rows, whose schema may be changed. */
export async function startReloadTest(): Promise<{ graph: OwnGraphTest; tenant: Tenant }> {
  const graph = await startGraphTest({ EXPLORERS: 'true', DATABASE_POOL_SIZE: '4' });
  const tenant = await createTenant(graph);
  await createUser(tenant, { fullName: 'Grace Hopper' });
  for (let n = 1; n <= 5; n++) await createUnit(tenant, { name: `Unit ${n}` });
  return { graph, tenant };
}

/** Reloads one after the other while 200 requests are answered for each; every reload adds a field. */
export async function reloadUnderLoad(graph: OwnGraphTest, tenant: Tenant, reloads: number): Promise<LoadOutcome> {
  const rows = '{ app { users { nodes { fullName } } rootUnits { totalCount } } }';
  const fields = '{ __type(name: "User") { fields { name } } }';
  const expectedRows = JSON.stringify({ data: await read(graph, tenant.app, rows) });
  const wrong: unknown[] = [];
  const seen = new Set<number>();
  let answered = 0;
  let reloaded = 0;

  const client = async () => {
    while (answered < reloads * perReload) {
      // So many while each reload goes on, and no more: a busy machine would be kept from reloading.
      if (answered >= (reloaded + 1) * perReload) {
        await until(() => answered < (reloaded + 1) * perReload);
        continue;
      }
      answered += 1;
      const earliest = reloaded;
      const { status, body } = await ask(graph, tenant.app, answered % 2 ? fields : rows);
      const text = JSON.stringify(body);
      const added = text.match(/"field\d+"/g)?.length ?? 0;
      if (text.startsWith('{"data":{"__type"')) seen.add(added);
      else if (text !== expectedRows) wrong.push({ status, body });
      // Not older than when it was asked, nor newer than the one that is being built.
      if (status !== 200 || (text !== expectedRows && (added < earliest || added > reloaded + 1))) {
        wrong.push({ status, body, earliest, reloaded });
      }
    }
  };
  const reloading = async () => {
    for (let n = 1; n <= reloads; n++) {
      await addField(graph, `field${n}`);
      await graph.reload();
      reloaded = n;
      await until(() => answered >= n * perReload);
    }
  };
  await Promise.all([reloading(), ...Array.from({ length: 8 }, client)]);
  return { wrong, answered, seen };
}

export type LoadOutcome = {
  /** Answers that failed, or were of neither the old nor the new schema. */
  wrong: unknown[];
  answered: number;
  /** How many of the added fields the schemas had that answers were of. */
  seen: ReadonlySet<number>;
};

/** Gives users a text field. */
export async function addField(graph: OwnGraphTest, name: string): Promise<void> {
  await graph.database.owner.query(`
    create function app_public.users_${name}("user" app_public.users) returns text
      language sql stable as $$ select '${name} of ' || "user".full_name $$;
    grant execute on function app_public.users_${name} to graph_app`);
}

const perReload = 200;
