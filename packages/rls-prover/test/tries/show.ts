import type { ClientBase } from 'pg';
import { isOpen, prove } from 'rls-prover';
import type { startProving } from '../support.ts';
import type { Try } from './try.ts';

type Proving = Awaited<ReturnType<typeof startProving>>;
type Shown = { isShown: boolean; what: string };

/** Whether a client breaks the invariant: by rows, and without the prover. */
export const show = (proving: Proving, { given, rows, act, sees, changes }: Try): Promise<Shown> =>
  proving.after(idsIn(given), async (client) => {
    await proving.options.examples?.insert(client);
    for (const statement of [rows ?? '', `set local app.tenant_id = ''`]) await client.query(idsIn(statement));
    const before = changes ? await answer(client, changes) : '';
    await client.query(`set local app.tenant_id = ${idsIn(':A0')}; set local app.user_id = ${idsIn(':A1')}`);
    await client.query(`set local role ${proving.member}`);
    const what = await answer(client, act.replaceAll(/\bmember\b/g, proving.member));
    if (sees) return { isShown: sees.test(what), what };
    await client.query('reset role');
    const after = await answer(client, changes ?? 'select');
    return { isShown: after !== before, what: `${what} ${before} ${after}` };
  });

/** The judgements that are neither proven nor accepted, each in a line. */
export const openAfter = (
  proving: Proving,
  { given, invariants }: Pick<Try, 'given' | 'invariants'>,
): Promise<string[]> =>
  proving.after(idsIn(given), async (client) => {
    const { options } = proving;
    const judgements = await prove(
      {
        ...options,
        client,
        invariants: [
          ...options.invariants.filter(({ name }) => !invariants?.some((one) => one.name === name && !one.relation)),
          ...(invariants ?? []),
        ],
      },
      proving.prover,
    );
    return judgements
      .filter(isOpen)
      .map(
        ({ invariant, command, relation, verdict, why }) =>
          `${invariant}: ${command} on ${relation}: ${verdict}: ${why}`,
      );
  });

/** The answer of the last of some statements, or its error. */
async function answer(client: ClientBase, text: string): Promise<string> {
  await client.query('savepoint act');
  try {
    const results = [await client.query(idsIn(text))].flat();
    return JSON.stringify(results.at(-1)?.rows);
  } catch (error) {
    await client.query('rollback to savepoint act');
    const { message, detail } = error as { message: string; detail?: string };
    return [message, detail].join('\n');
  }
}

export const idsIn = (text: string) =>
  text.replaceAll(
    /:([AB])(\d)/g,
    (_, letter: string, number: string) => `'${letter.toLowerCase().repeat(8)}-0000-7000-8000-00000000000${number}'`,
  );
