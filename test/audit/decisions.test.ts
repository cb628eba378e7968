import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { audit, company, insertCompany, undone } from './support.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await insertCompany(database.owner);
});
afterAll(() => database.drop());

const backend = 'app:acme-backend';
const shown = { unit_id: company.room, card_id: company.badge };
const query = async (statement: string, ...values: unknown[]) => (await database.owner.query(statement, values)).rows;
const now = async (): Promise<string> => (await query('select clock_timestamp()::text as now'))[0].now;
/** Each step as `card Badge IdentificationCode`, and a grant that is not valid with `not`. */
const explain = async (question: object, at: string | null = null, principal = backend) => {
  const rows = await query('select * from audit.explain_decision($1, $2, $3)', principal, question, at);
  return rows.map(({ step, name, detail, holds }) =>
    [step, name, step === 'decision' ? null : detail, holds ? null : 'not'].filter(Boolean).join(' '),
  );
};
const path = ['unit Room asked for', 'unit Floor above', 'unit Headquarters above'];

test('a decision is explained by its card, its holders, the units and every grant on them', async () => {
  const granted = [
    'decision GRANTED',
    'card Badge IdentificationCode',
    'holder Ada',
    ...path,
    'grant Ada: Headquarters decides',
  ];
  expect(await explain(shown)).toEqual(granted);
  expect(await explain({ unit_id: company.room, user_id: company.ada })).toEqual(
    granted.filter((step) => !step.startsWith('card')).map((step) => step.replace('holder', 'user')),
  );
  expect(await explain({ unit_id: company.depot, card_id: company.badge })).toEqual([
    'decision NO_GRANT not',
    ...['card Badge IdentificationCode', 'holder Ada', 'unit Depot asked for'],
  ]);
});

test('another organization’s application is told of nothing, since it asks under its own policies', async () => {
  expect(await explain(shown, null, 'app:rival-backend')).toEqual(['decision UNIT_UNKNOWN not']);
});

test('at a time that has passed, cards, units and grants are those of then', async () => {
  const first = await now();
  await query(`insert into app_hidden.unit_access (organization_id, user_id, unit_id, source, valid_until)
    values ('${company.acme}', '${company.ada}', '${company.floor}', 'hr', clock_timestamp() + interval '0.2 seconds')`);
  const second = await now();
  await query('select pg_sleep(0.25)');
  await query(`delete from app_hidden.unit_access where user_id = '${company.ada}' and source is null`);
  const third = await now();
  await query(`update app_public.units set parent_id = '${company.depot}' where id = '${company.room}'`);
  await query(`delete from app_public.card_assignments where card_id = '${company.badge}'`);

  const until = expect.stringMatching(/^grant Ada: Floor decides, of hr, until \S+ \S+$/);
  const ended = expect.stringMatching(/^grant Ada: Floor decides, of hr, until \S+ \S+ not$/);
  const held = ['card Badge IdentificationCode', 'holder Ada', ...path];
  expect(await explain(shown, first)).toEqual(['decision GRANTED', ...held, 'grant Ada: Headquarters decides']);
  expect(await explain(shown, second)).toEqual(['decision GRANTED', ...held, until, 'grant Ada: Headquarters']);
  expect(await explain(shown, third)).toEqual(['decision EXPIRED not', ...held, ended]);
  expect(await explain(shown)).toEqual([
    'decision CARD_UNASSIGNED not',
    ...['card Badge IdentificationCode', 'unit Room asked for', 'unit Depot above'],
  ]);
  // The question's own time judges the grants alone.
  expect((await explain({ ...shown, at: '2000-01-01' }, third))[0]).toBe('decision GRANTED');
});

test('what cannot be asked is refused with what to do', async () => {
  await expect(explain(shown, null, `me:${company.grace}`)).rejects.toThrow(`me:${company.grace} asks for no decision`);
  await expect(explain({ unit: company.room })).rejects.toThrow('A decision is not asked by unit');
});

test('npm run audit -- explain … decision prints it', async () => {
  const question = JSON.stringify({ unit_id: company.depot, user_id: company.grace });

  const { code, stdout } = await audit(database, 'explain', backend, 'decision', question);

  expect(code).toBe(0);
  expect(stdout).toContain('| decision | GRANTED |');
  expect(stdout).toContain(`| grant | Grace: Depot | decides | yes |`);
  const at = await audit(database, 'explain', backend, 'decision', question, '--at', await now());
  expect(at.stdout).toContain('| decision | GRANTED |');
  const wrong = await audit(database, 'explain', backend, 'app_public.units', company.depot, '--at', 'yesterday');
  expect(wrong).toMatchObject({ code: 64, error: expect.stringContaining('--at is for decisions') });
});

test('a decision is recorded where reads are recorded', async () => {
  const recorded = await undone(
    database.owner,
    `select audit.record_reads('app_hidden.unit_access')`,
    `select audit.become(p) from audit.principals p where p.principal = '${backend}'`,
    `select from app_hidden.decide_access(array[jsonb_populate_record(null::app_hidden.access_question,
       '${JSON.stringify({ unit_id: company.depot, user_id: company.grace })}')])`,
    'reset role',
    `select relation, role, application_id from audit.changes where command = 'select'`,
  );
  expect(recorded).toEqual([
    { relation: 'app_hidden.unit_access', role: 'graph_app', application_id: company.backend },
  ]);
});
