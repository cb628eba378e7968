import { isDeepStrictEqual } from 'node:util';
import type { Card } from '../rows.ts';
import { readSignal, type Signal, signalOf } from './cards.ts';
import { idOf, typed } from './ids.ts';
import {
  badInput,
  type Call,
  changed,
  conflict,
  type Failure,
  generatedOf,
  notFound,
  type Outcome,
} from './outcome.ts';
import { put, rowsOf, type State, without } from './state.ts';
import { answeredResult, chooseFailure, type SyncResult } from './syncResults.ts';
import { readValue } from './values.ts';

type Input = {
  externalIdentifier: string;
  name?: string | null;
  nfcIdentifier?: string | null;
  beacon?: { proximityUuid: string; major: number; minor: number } | null;
  userExternalIdentifier?: string | null;
};

/** A row of the request, with what it would make of its card; `holderIds` undefined: those of now. */
type Row = {
  input: Input;
  card: Card | undefined;
  values: Partial<Card>;
  type: Card['type'];
  holderIds: readonly string[] | undefined;
  failures: Failure[];
};

export function cardsSync(call: Call): Outcome {
  const inputs = call.args.cards as readonly Input[];
  if (inputs.length < 1 || inputs.length > 1000 || JSON.stringify(inputs).includes('\\u0000'))
    return { failures: [badInput('cards')] };

  const rows = inputs.map((input, index) => readRow(call, input, inputs.slice(0, index)));
  refuseTaken(call, rows);
  const isDry = call.args.dryRun === true;
  let { state } = call;
  const outcomes = rows.map((row, index) => {
    if (row.failures.length > 0) return 'REFUSED';
    const next = write(call, state, row, index, isDry);
    const outcome = row.card === undefined ? 'CREATED' : next === state ? 'UNCHANGED' : 'UPDATED';
    if (!isDry) state = next;
    return outcome;
  });

  const results = rows.map(({ input, failures }, index): SyncResult => {
    const { externalIdentifier } = input;
    const isRefused = failures.length > 0;
    const card = cardNamed(state, call, externalIdentifier);
    return {
      externalIdentifier,
      outcome: outcomes[index] as SyncResult['outcome'],
      error: isRefused ? chooseFailure(failures, answeredResult(call, index)) : null,
      card: isRefused || !card ? null : typed('Card', card),
    };
  });
  return { state, payload: { results } };
}

const cardNamed = (state: State, { organizationId }: Call, wanted: string) =>
  rowsOf(state, 'Card', organizationId).find(({ externalIdentifier }) => externalIdentifier === wanted);

function readRow(call: Call, input: Input, earlier: readonly Input[]): Row {
  const { externalIdentifier, name, nfcIdentifier, beacon, userExternalIdentifier: holder } = input;
  const failures: Failure[] = [];
  const card = cardNamed(call.state, call, externalIdentifier);
  readValue('externalIdentifier', externalIdentifier, failures);
  if (earlier.some((other) => other.externalIdentifier === externalIdentifier))
    failures.push(conflict('externalIdentifier'));

  const values: Partial<Card> = {};
  if (typeof name === 'string') values.name = readValue('name', name, failures);
  else if (!card || name === null) failures.push(badInput('name'));
  const given = nfcIdentifier != null ? 'NfcCard' : beacon != null ? 'BeaconCard' : null;
  const type = given ?? card?.type ?? 'IdentificationCode';
  if (nfcIdentifier != null && beacon != null) failures.push(badInput(['beacon', 'nfcIdentifier']));
  if (card && given && given !== card.type) failures.push(badInput(given === 'NfcCard' ? 'nfcIdentifier' : 'beacon'));
  if (card?.type === 'NfcCard' && nfcIdentifier === null) failures.push(badInput('nfcIdentifier'));
  if (card?.type === 'BeaconCard' && beacon === null) failures.push(badInput('beacon'));
  if (given) Object.assign(values, readSignal(given, { nfcIdentifier, ...beacon }, failures, 'beacon'));

  const users = typeof holder === 'string' ? rowsOf(call.state, 'User', call.organizationId) : [];
  const user = users.find((one) => one.externalIdentifier === holder);
  if (typeof holder === 'string' && !user) failures.push({ ...notFound, argument: 'userExternalIdentifier' });
  const holderIds = holder === undefined ? undefined : user ? [user.id] : [];
  return { input, card, values, type, holderIds, failures };
}

/**
 * Refuses rows that want what another card has, or gets, after the sync.
 * A refused row keeps what it has, which may refuse others, so that this goes on until nothing changes.
 */
function refuseTaken(call: Call, rows: readonly Row[]): void {
  const cards = rowsOf(call.state, 'Card', call.organizationId);
  const judged = rows.filter(({ failures }) => failures.length === 0);
  const isActive = ({ failures }: Row) => failures.length === 0;
  const wanted = ({ card, values }: Row): Signal => signalOf({ ...card, ...values });
  const isSame = (one: Signal, other: Signal) => hasSignal(one) && isDeepStrictEqual(one, other);
  const givesUp = (card: Card) =>
    rows.some((row) => isActive(row) && row.card?.id === card.id && !isSame(wanted(row), signalOf(card)));
  const isKept = (row: Row) =>
    cards.some((card) => card.id !== row.card?.id && isSame(wanted(row), signalOf(card)) && !givesUp(card));
  const refuse = ({ type, failures }: Row) => failures.push(conflict(type === 'NfcCard' ? 'nfcIdentifier' : 'beacon'));

  for (let isDone = false; !isDone; ) {
    const active = rows.filter(isActive);
    const kept = active.filter(isKept);
    const late = active.filter((row, index) =>
      active.slice(0, index).some((other) => isSame(wanted(other), wanted(row))),
    );
    const refused = kept.length > 0 ? kept : late;
    refused.forEach(refuse);
    isDone = refused.length === 0;
  }
  for (const row of judged) if (!isActive(row) && isKept(row)) refuse(row);
}

const hasSignal = (signal: Signal) => Object.values(signal).some((value) => value !== null);

function write(call: Call, state: State, row: Row, index: number, isDry: boolean): State {
  const { organizationId } = call;
  const answer = answeredResult(call, index).card;
  if (isDry) return row.card && !differs(state, row, row.card) ? state : { ...state };
  const { externalIdentifier } = row.input;
  const card: Card = row.card
    ? changed(row.card, row.values, answer)
    : {
        ...{ organizationId, type: row.type, name: '', externalIdentifier, ...signalOf({}), ...row.values },
        ...generatedOf(answer, row.type),
      };
  const next = card === row.card ? state : put(state, 'Card', card);
  return row.holderIds ? writeHolders(next, card, row.holderIds, answer) : next;
}

/** "Its holder becomes exactly this person": an assignment that stays is untouched. */
function writeHolders(state: State, card: Card, holderIds: readonly string[], answer: unknown): State {
  const { organizationId, id: cardId } = card;
  const present = state.rows.cardAssignments.filter((assignment) => assignment.cardId === cardId);
  const isGone = (userId: string) => !holderIds.includes(userId);
  let next = present.some(({ userId }) => isGone(userId))
    ? without(state, 'CardAssignment', (one) => one.cardId === cardId && isGone(one.userId))
    : state;
  const { cardAssignments = [] } = (answer ?? {}) as { cardAssignments?: { id: string }[] };
  for (const userId of holderIds) {
    if (present.some((assignment) => assignment.userId === userId)) continue;
    const isNew = (id: string) => !present.some((assignment) => idOf('CardAssignment', assignment) === id);
    const { id, createdAt } = generatedOf(
      cardAssignments.find((assignment) => isNew(assignment.id)),
      'CardAssignment',
    );
    next = put(next, 'CardAssignment', { organizationId, id, createdAt, userId, cardId });
  }
  return next;
}

function differs(state: State, { values, holderIds }: Row, card: Card): boolean {
  const holders = state.rows.cardAssignments.filter(({ cardId }) => cardId === card.id).map(({ userId }) => userId);
  return (
    !isDeepStrictEqual({ ...card, ...values }, card) ||
    (holderIds !== undefined && !isDeepStrictEqual([...holderIds].sort(), holders.sort()))
  );
}
