import { type GraphTest, read, type Tenant } from '../graphql/support.ts';
import { until } from '../support/until.ts';

export type Created = { webhook: { id: string; enabled: boolean }; secret: string };

type Delivery = {
  id: string;
  outcome: string;
  attempts: number;
  statusCode: number | null;
  lastError: string | null;
  nextAttemptAt: string | null;
  change: { typeName: string; operation: string; id: string; cursor: string } | null;
};

/** The deliveries of an organization's webhooks, as its application reads them; `args` narrow them. */
export async function readDeliveries(
  graph: Pick<GraphTest, 'url'>,
  { app: token }: Tenant,
  args: string,
): Promise<Delivery[]> {
  const fields = 'id outcome attempts statusCode lastError nextAttemptAt change { typeName operation id cursor }';
  const query = `{ app { webhooks { nodes { deliveries${args} { nodes { ${fields} } } } } } }`;
  type Data = { app: { webhooks: { nodes: { deliveries: { nodes: Delivery[] } }[] } } };
  const { app } = await read<Data>(graph, token, query);
  return app.webhooks.nodes.flatMap(({ deliveries: { nodes } }) => nodes);
}

/** Resolves when so many deliveries of an organization have this outcome. */
export const untilSettled = (graph: Pick<GraphTest, 'url'>, tenant: Tenant, count: number, outcome: string) =>
  until(async () => {
    const deliveries = await readDeliveries(graph, tenant, '');
    return deliveries.filter((delivery) => delivery.outcome === outcome).length === count;
  });

/** Resolves when the worker no longer holds the organization's webhook as it has read it. */
export const released = ({ owner, organizationId }: Tenant) =>
  until(async () => {
    const { rows } = await owner.query(
      'select coalesce(leased_until <= statement_timestamp(), true) as done from app_hidden.webhook_positions where organization_id = $1',
      [organizationId],
    );
    return rows[0]?.done ?? true;
  });
