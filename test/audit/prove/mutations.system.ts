import { mutate } from 'rls-prover';
import { readOptions } from '../../../src/commands/audit/prove/readOptions.ts';
import { weakeningsOf } from '../../../src/commands/audit/prove/weakenings.ts';
import { startProving } from './support.ts';

test('a proof or a lint notices every weakened policy and right but three', async () => {
  const proving = await startProving();
  try {
    const mutations = await proving.within(async (client) =>
      mutate({ ...(await readOptions(client)), ...weakeningsOf(client) }, proving.prover),
    );

    const survivors = mutations.filter(({ survives }) => survives !== null).map(({ mutant }) => mutant);
    // What these open is the token's own answer, or within its organization. No invariant forbids that.
    expect(survivors.toSorted()).toEqual([
      'app_hidden.idempotency_keys: update granted to graph_app',
      'app_hidden.idempotency_keys: update granted to graph_user',
      'oauth.consents: update granted to graph_oauth',
    ]);
    expect(mutations.length).toBeGreaterThan(300);
  } finally {
    await proving.stop();
  }
}, 900_000);
