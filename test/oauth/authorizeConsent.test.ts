import { hashToken } from '../../src/token/accessTokens.ts';
import { until } from '../support/until.ts';
import {
  answerOf,
  countCodesOf,
  createPkce,
  exchange,
  expectForbidden,
  type Form,
  requestOf,
  shareAuthorization,
  type Visit,
  Visitor,
} from './authorizeSupport.ts';
import { asClient, createUser, type OauthTest, type TestApplication, type TestUser } from './support.ts';

// The question of the authorization endpoint, and the one answer to it that counts.

let oauth: OauthTest;
let application: TestApplication;
let user: TestUser;
beforeAll(async () => {
  ({ oauth, application, user } = await shareAuthorization());
});

const json = { Accept: 'application/json' };

const codes = (person = user) => countCodesOf(oauth, person);

test('the person is asked each time, and sees who asks and who is asked', async () => {
  const visitor = new Visitor(oauth);
  const first = await visitor.signIn(requestOf(application), user);
  expect(answerOf(await visitor.submit(first.approval))).toHaveProperty('code');

  const second = await visitor.open(requestOf(application));

  expect(second.forms).toHaveLength(3);
  expect(second.text).toContain('<strong>Application</strong>');
  expect(second.text).toContain('Ada Lovelace');
  expect(second.text).toContain(user.email);
  expect(second.text).toContain('client.example.test');
});

test('denying sends the person back without a code, by form and by DELETE', async () => {
  const visitor = new Visitor(oauth);
  const byForm = await visitor.signIn(requestOf(application), user);
  const byMethod = await visitor.consent(`/oauth/authorize?${new URLSearchParams(requestOf(application))}`);
  const byJson = await visitor.consent(`/oauth/authorize?${new URLSearchParams(requestOf(application))}`);
  const before = await codes();
  const denied = {
    error: 'access_denied',
    error_description: expect.any(String),
    state: 'state of the client',
    iss: oauth.url,
  };
  const sendDelete = (form: Form, headers = {}) =>
    visitor.send(form.action, { method: 'DELETE', headers, body: new URLSearchParams(form.fields) });

  expect(byForm.denial.fields._method).toBe('delete');
  expect(answerOf(await visitor.submit(byForm.denial))).toEqual(denied);
  expect(answerOf(await sendDelete(byMethod.approval))).toEqual(denied);
  const answer = await sendDelete(byJson.approval, json);
  expect({ status: answer.status, ...JSON.parse(answer.text) }).toEqual({
    status: 'redirect',
    redirect_uri: expect.stringMatching(/^https:\/\/client\.example\.test\/callback\?error=access_denied&/),
  });
  expect(answer.status).toBe(200);
  expect(await codes()).toBe(before);
  // Afterwards it cannot be allowed either.
  for (const { approval } of [byForm, byMethod, byJson]) expectForbidden(await visitor.submit(approval));
});

test('JSON callers approve with the parameters in the body, too', async () => {
  const visitor = new Visitor(oauth);
  const request = requestOf(application);
  await visitor.signIn(request, user);
  const { csrf_token } = JSON.parse((await visitor.open(request, json)).text);

  const body = new URLSearchParams({ ...request, csrf_token });
  const answer = await visitor.send('/oauth/authorize', { method: 'POST', headers: json, body });

  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.text)).toEqual({
    status: 'redirect',
    redirect_uri: expect.stringContaining('?code=gqs_ac_'),
  });
});

test('consent needs the token of the page, in the session that was asked', async () => {
  const mine = new Visitor(oauth);
  const theirs = new Visitor(oauth);
  const { approval, denial, signOut } = await mine.signIn(requestOf(application), user);
  const other = await theirs.signIn(requestOf(application), await createUser(oauth));
  const before = await codes();

  for (const form of [approval, denial]) {
    expectForbidden(await theirs.submit(form));
    expectForbidden(await new Visitor(oauth).submit(form));
    for (const csrf_token of [
      '',
      'x'.repeat(43),
      'x'.repeat(10_000),
      other.approval.fields.csrf_token ?? '',
      signOut.fields.csrf_token ?? '',
    ]) {
      expectForbidden(await mine.submit(form, { csrf_token }));
    }
  }
  expect(await codes()).toBe(before);
  expect(answerOf(await mine.submit(approval))).toHaveProperty('code');
});

test('of many answers to one question one counts, and those equal to it lead to the same place', async () => {
  const person = await createUser(oauth);
  const visitor = new Visitor(oauth);
  await visitor.signIn(requestOf(application), person);
  for (const kinds of [['approval'], ['denial'], ['approval', 'denial']] as const) {
    const asked = await visitor.consent(`/oauth/authorize?${new URLSearchParams(requestOf(application))}`);
    const before = (await codes(person)) ?? 0;
    const forms = Array.from({ length: 20 }, (_, index) => asked[kinds[index % kinds.length] ?? 'approval']);

    const answers = await answeredAtOnce(visitor, forms);

    const counted = answers.filter(({ status }) => status === 303);
    const [location, ...others] = new Set(counted.map(({ headers }) => headers.get('Location')));
    expect(others).toEqual([]);
    expect(counted).toHaveLength(20 / kinds.length);
    for (const refused of answers.filter(({ status }) => status !== 303)) expectForbidden(refused);
    expect(await codes(person)).toBe(before + (location?.includes('code=') ? 1 : 0));
  }
});

test('an equal answer gets the same code until that is redeemed', async () => {
  const visitor = new Visitor(oauth);
  const pkce = createPkce();
  const { approval } = await visitor.signIn(requestOf(application, pkce), user);
  const { code = '', ...rest } = answerOf(await visitor.submit(approval));
  expect(answerOf(await visitor.submit(approval))).toEqual({ code, ...rest });

  const otherState = approval.action.replace(/state=[^&]*/, 'state=other');
  expectForbidden(await visitor.submit({ ...approval, action: otherState }));
  await exchange(oauth, code, pkce, asClient(application));

  expectForbidden(await visitor.submit(approval));
});

/** The answers to forms that all wait for the question's row at one moment. */
async function answeredAtOnce(visitor: Visitor, forms: Form[]): Promise<Visit[]> {
  const { owner } = oauth.database;
  const blocker = await owner.connect();
  const hashes = [...new Set(forms.map(({ fields }) => fields.csrf_token ?? ''))].map(hashToken);
  await blocker.query('begin');
  await blocker.query('select from oauth.consents where consent_hash = any ($1) for update', [hashes]);
  const answers = Promise.all(forms.map((form) => visitor.submit(form)));
  await until(async () => {
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%oauth.consents%'`;
    return ((await owner.query(waiting)).rowCount ?? 0) > 1;
  });
  await blocker.query('rollback');
  blocker.release();
  return answers;
}

test('a question that waited for 10 minutes has to be asked again', async () => {
  const visitor = new Visitor(oauth);
  const { approval } = await visitor.signIn(requestOf(application), user);
  const token = approval.fields.csrf_token ?? '';
  const { rowCount } = await oauth.database.owner.query(
    `update oauth.consents set expires_at = expires_at - interval '10 minutes' where consent_hash = $1`,
    [hashToken(token)],
  );
  expect(rowCount).toBe(1);

  const page = await visitor.submit(approval);

  expectForbidden(page);
  const [, again = ''] = /<a class="button" href="([^"]*)"/.exec(page.text) ?? [];
  expect((await visitor.consent(again.replaceAll('&#38;', '&'))).status).toBe(200);
});
