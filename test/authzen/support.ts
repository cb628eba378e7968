import type { Tenant } from '../graphql/support.ts';

/** An answer of the policy decision point: JSON of a decision, or the text of a refusal. */
export type PdpAnswer = { status: number; headers: Headers; text: string; body: unknown };

export type Path = 'evaluation' | 'evaluations';

/** Sends a body as a policy enforcement point does; `headers` replace the usual ones. */
export async function evaluate(
  { url }: { url: string },
  token: string | null,
  path: Path,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<PdpAnswer> {
  const response = await fetch(`${url}/access/v1/${path}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...(token !== null && { Authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const isJson = response.headers.get('Content-Type')?.startsWith('application/json');
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
}

/** May the user or card enter the unit? Each by its identifier. */
export const question = (subject: readonly [type: string, id: string], unit: string, more: object = {}) => ({
  subject: { type: subject[0], id: subject[1] },
  action: { name: 'enter' },
  resource: { type: 'unit', id: unit },
  ...more,
});

/** The decision, or the decisions, as `GRANTED` or `NO_GRANT` and so on; each is checked to say whether it is one. */
export async function decide(graph: { url: string }, { app }: Pick<Tenant, 'app'>, path: Path, body: unknown) {
  const answer = await evaluate(graph, app, path, body);
  expect([answer.status, answer.text]).toEqual([200, expect.stringMatching(/^\{/)]);
  const reasonOf = ({ decision, context, ...more }: Decided) => {
    expect([decision, more]).toEqual([context.reason === 'GRANTED', {}]);
    return context.reason;
  };
  const { evaluations, ...single } = answer.body as { evaluations?: Decided[] };
  if (!evaluations) return reasonOf(single as Decided);
  expect(single).toEqual({});
  return evaluations.map(reasonOf);
}

type Decided = { decision: boolean; context: { reason: string } };
