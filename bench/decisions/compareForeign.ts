import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { Doors } from '../data/buildDoors.ts';
import { Connection } from '../peers/load/Connection.ts';
import { atMost, type Measured, median } from '../support/measured.ts';
import { decisionOf, evaluationOf, nodeOf } from './requests.ts';

const tries = 400;
const warmUps = 40;
/** By how much the medians of two questions with the same answer may differ. */
const tolerance = 0.05;

/**
 * Timing side channel: whether time or content discloses what another organization has. A badge, unit, person or grant of another
 * organization and one that does not exist are asked about in turns, so that a slow moment of the machine hits both.
 *
 * @param own the organization that asks
 * @param owner reads what the other organization, `foreign`, has
 */
export async function compareForeign(port: number, token: string, own: Doors, owner: Pool, foreign: string) {
  const unit = { unitExternalIdentifier: own.unitNames[0] as string };
  const idsOf = async (type: string, table: string) => {
    const { rows } = await owner.query(
      `select t.id from ${table} t join app_hidden.organizations o on o.id = t.organization_id where o.name = $1 limit $2`,
      [foreign, tries + warmUps],
    );
    return {
      there: rows.map(({ id }) => toNodeId(type, id)),
      nowhere: rows.map(() => toNodeId(type, randomUUID())),
    };
  };
  const { rows: cards } = await owner.query(
    `select c.nfc_identifier from app_public.cards c join app_hidden.organizations o on o.id = c.organization_id
     where o.name = $1 order by c.nfc_identifier desc limit $2`,
    [foreign, tries + warmUps],
  );
  const badges = {
    there: cards.map(({ nfc_identifier }) => String(nfc_identifier)),
    nowhere: cards.map((_, index) => `FF${index.toString(16).padStart(12, '0').toUpperCase()}`),
  };
  const people = await idsOf('User', 'app_public.users');
  const [known = ''] = own.userIds;
  const units = await idsOf('Unit', 'app_public.units');
  const cases: readonly [what: string, ids: typeof badges, ask: (id: string) => Buffer][] = [
    ['badge', badges, (nfcIdentifier) => decisionOf(token, unit, { nfcIdentifier })],
    ['unit', units, (unitId) => decisionOf(token, { unitId }, { userId: known })],
    ['person', people, (userId) => decisionOf(token, unit, { userId })],
    ['unit, by AuthZEN', units, (id) => evaluationOf(token, { type: 'user', id: known }, id)],
    ['person, by AuthZEN', people, (id) => evaluationOf(token, { type: 'user', id }, unit.unitExternalIdentifier)],
    ['grant', await idsOf('AccessGrant', 'app_hidden.unit_access'), (id) => nodeOf(token, id)],
  ];
  const measured: Measured[] = [];
  const connection = await Connection.open(port);
  for (const [what, ids, ask] of cases) measured.push(...(await compare(connection, what, ids, ask)));
  connection.close();
  return measured;
}

type Ids = { readonly there: readonly string[]; readonly nowhere: readonly string[] };

async function compare(connection: Connection, what: string, ids: Ids, ask: (id: string) => Buffer) {
  const times = { there: [] as number[], nowhere: [] as number[] };
  const answers = new Set<string>();
  for (let round = -warmUps; round < tries; round++) {
    // Each is the first one in turn, too.
    for (const which of round % 2 === 0 ? (['there', 'nowhere'] as const) : (['nowhere', 'there'] as const)) {
      const list = ids[which];
      const request = ask(list[(round + warmUps) % list.length] as string);
      const startedAt = performance.now();
      const { status, body } = await connection.send(request);
      if (round >= 0) times[which].push(performance.now() - startedAt);
      answers.add(`${status} ${body}`);
    }
  }
  const [there, nowhere] = [median(times.there), median(times.nowhere)];
  const difference = Math.abs(there - nowhere) / Math.min(there, nowhere);
  return [
    atMost(`time of another organization's ${what}`, 100 * difference, 100 * tolerance, '% from none'),
    atMost(`answers about another organization's ${what}, and about none`, answers.size, 1, 'different'),
  ];
}

const toNodeId = (type: string, id: string) => Buffer.from(`${type}:${id}`).toString('base64url');
