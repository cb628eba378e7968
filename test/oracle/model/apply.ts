import * as cards from './cards.ts';
import { cardsSync } from './cardsSync.ts';
import * as grants from './grants.ts';
import type { Call, Outcome } from './outcome.ts';
import type { Caller, State } from './state.ts';
import { unitCreate, unitDelete, unitUpdate } from './units.ts';
import { unitsSync } from './unitsSync.ts';
import { userCreate, userDelete, usersDelete, userUpdate } from './users.ts';
import { usersSync } from './usersSync.ts';
import * as webhooks from './webhooks.ts';

const mutations: Readonly<Record<string, (call: Call) => Outcome>> = {
  userCreate,
  userUpdate,
  userDelete,
  usersDelete,
  unitCreate,
  unitUpdate,
  unitDelete,
  beaconCardCreate: cards.beaconCardCreate,
  nfcCardCreate: cards.nfcCardCreate,
  identificationCodeCreate: cards.identificationCodeCreate,
  cardUpdate: cards.cardUpdate,
  cardDelete: cards.cardDelete,
  cardAssign: cards.cardAssign,
  cardUnassign: cards.cardUnassign,
  ...grants,
  ...webhooks,
  usersSync,
  cardsSync,
  unitsSync,
};

/** What a mutation makes of the rows: all of them are for the application (scope `app`) alone. */
export function apply(
  state: State,
  caller: Caller,
  field: string,
  args: Readonly<Record<string, unknown>>,
  answer: unknown,
): Outcome {
  if (caller.scope !== 'app') return { failures: [{ code: 'FORBIDDEN' }] };
  const mutation = mutations[field];
  if (!mutation) throw new Error(`The model has no ${field}`);
  return mutation({ state, organizationId: caller.organizationId, args, answer });
}
