import { mutate } from '../../../src/commands/audit/prove/mutate.ts';
import { requestRoles } from '../../../src/database/roles/authenticator.ts';
import { startProving } from './support.ts';

test('every weakened policy and right is noticed by a proof or a lint', async () => {
  const proving = await startProving();
  try {
    const mutations = await proving.within((client) => mutate(client, requestRoles, proving.prover));

    expect(mutations.filter(({ survives }) => survives !== null)).toEqual([]);
    expect(mutations.length).toBeGreaterThan(300);
  } finally {
    await proving.stop();
  }
}, 900_000);
