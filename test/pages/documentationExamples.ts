import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { type OpenPage, openPage } from '../support/browser.ts';
import { type Demo, getDemoToken } from '../support/demo.ts';
import { until } from '../support/until.ts';

/** Tests of every command that the documentation shows, as it stands there, against the demo, which they change. */
export function describeExamples(of: () => { demo: Demo; browser: Browser }): void {
  let demo: Demo;
  let opened: OpenPage;
  let page: Page;

  beforeAll(async () => {
    ({ demo } = of());
    opened = await openPage(of().browser, { baseUrl: demo.url, width: 1280 });
    ({ page } = opened);
  });

  afterAll(() => opened.close());

  it('has an example of every operation, each of which the demo answers', async () => {
    const roots = (await rootFields(demo)).toSorted();
    const examples: Example[] = [];
    for (const type of ['Query', 'App', 'User', 'Mutation', 'Subscription']) {
      await page.goto(`${demo.url}/documentations/graphql/${type}`);
      const read = await page.evaluate<Example[]>(readExamples);
      examples.push(...read.map(({ of, command }) => ({ of: `${type}.${of}`, command })));
    }
    expect(examples.map(({ of }) => of).filter((of) => /^(Query|Mutation|Subscription)/.test(of))).toEqual(
      expect.arrayContaining(roots),
    );
    expect(examples.map(({ of }) => of)).toEqual(expect.arrayContaining(['App.users', 'User.accessibleUnits']));

    for (const { command } of examples.filter(isStream))
      expect(await follow(demo, command)).toContain('"typeName":"Unit"');
    for (const { of, command } of examples.filter((example) => !isStream(example)).sort(byEffect)) {
      const { errors, data } = (await run(demo, command)) as { errors?: unknown; data?: Record<string, unknown> };
      expect([of, errors]).toEqual([of, undefined]);
      expect([of, Object.values(data ?? {})]).toEqual([of, [expect.anything()]]);
    }
  });

  it('names the errors of a mutation in the words of the service', async () => {
    await page.goto(`${demo.url}/documentations/graphql/Mutation`);
    for (const [arguments_, code, argument] of [
      ['email: "ada@demo.test"', 'CONFLICT', 'email'],
      ['email: "none"', 'BAD_USER_INPUT', 'email'],
      ['email: "new@demo.test", externalIdentifier: "ada"', 'CONFLICT', 'externalIdentifier'],
    ]) {
      const [error] = await errorsOf(demo, `mutation { userCreate(fullName: "Ada", ${arguments_}) { user { id } } }`);
      expect(error?.extensions).toEqual({ code, argument });
      expect(await page.locator('article#userCreate').innerText()).toContain(
        `${code} of ${argument}: ${error?.message}`,
      );
    }
  });

  it('has commands for tokens that work', async () => {
    await page.goto(`${demo.url}/documentations/graphql/tokens`);
    const shown = await page.locator('.code pre').allTextContents();
    // Its code comes by a browser.
    const commands = shown.filter((command) => !command.includes('code=CODE'));
    const answers = [];
    for (const command of commands) answers.push(await run(demo, command));

    const tokens = expect.objectContaining({ access_token: expect.any(String) });
    expect(shown).toHaveLength(commands.length + 1);
    expect(answers).toEqual([
      ...[tokens, tokens, tokens, tokens],
      expect.objectContaining({ application: { uid: 'demo-backend' } }),
      expect.objectContaining({ active: true }),
      {},
      {},
      { data: { viewer: { fullName: 'Ada Lovelace' } } },
    ]);
  });
}

type Example = { of: string; command: string };

/** The example of one operation needs what that of another has made, and not yet deleted. */
const byEffect = (one: Example, other: Example) => effectOf(one) - effectOf(other);
const effectOf = ({ of }: Example) => effects.findIndex((verb) => verb.test(of));
const effects = [
  ...[/Create$/, /Update$/, /(Assign|Grant)$/, /(Unassign|Revoke)$/, /(Redeliver|Secret)$/],
  ...[/(?<!Delete)$/, /Delete$/],
];

const readExamples = `Array.from(document.querySelectorAll('.example'), (example) => ({
  of: (example.closest('article') ?? example.closest('dd').previousElementSibling).id,
  command: example.querySelector('.code:last-child pre').textContent,
}))`;

/** Runs a command of the page as it stands there. */
async function run(demo: Demo, command: string): Promise<unknown> {
  const { stdout } = await paste(await fill(demo, command));
  return JSON.parse(stdout);
}

const isStream = ({ of }: { of: string }) => of.startsWith('Subscription.');

/** Runs one that follows changes, which come only once it is connected, until it has shown one. @returns what it has shown */
async function follow(demo: Demo, command: string): Promise<string> {
  const pasted = paste(`exec ${await fill(demo, command)}`);
  let shown = '';
  pasted.child.stdout?.on('data', (text: string) => {
    shown += text;
  });
  const token = await getDemoToken(demo);
  await until(async () => {
    await ask(demo, 'mutation { unitCreate(name: "Annex") { unit { id } } }', token);
    return shown.includes('data: ');
  });
  pasted.child.kill();
  await pasted.catch(() => undefined);
  return shown;
}

/** Curl is last on the path, so that the machine's own is used where there is one. */
const paste = (command: string) =>
  promisify(execFile)('sh', ['-c', command], {
    env: { PATH: `${process.env.PATH}:${fileURLToPath(new URL('../support/bin', import.meta.url))}` },
  });

/** The command with what its words in capitals stand for. */
async function fill(demo: Demo, command: string): Promise<string> {
  const { clientSecret, password, externalAuthenticationToken } = demo.credentials;
  const signIn = { grant_type: 'password', client_id: 'demo-mobile', username: 'ada@demo.test', password };
  const client = { client_id: 'demo-backend', client_secret: clientSecret };
  const ofUser = command.includes('viewer');
  const tokens = await issue(demo, ofUser ? signIn : { ...client, grant_type: 'client_credentials', scope: 'app' });
  const clientId = command.includes('external_authentication_token=') ? 'demo-external' : 'demo-mobile';
  const values: Record<string, string> = {
    ACCESS_TOKEN: tokens.access_token,
    REFRESH_TOKEN: tokens.refresh_token,
    CLIENT_ID: command.includes('grant_type=password') ? clientId : 'demo-backend',
    CLIENT_SECRET: clientSecret,
    EMAIL: 'ada@demo.test',
    PASSWORD: password,
    TOKEN: externalAuthenticationToken,
    '"ID"': JSON.stringify(command.includes('"ID"') ? await someId(demo, /webhook/.test(command)) : null),
    DELIVERY_ID: command.includes('DELIVERY_ID') ? await someDeliveryId(demo) : '',
  };
  return command.replace(/"ID"|\b[A-Z_]+\b/g, (word) => values[word] ?? word);
}

async function issue({ url }: Demo, parameters: Record<string, string>) {
  const response = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(parameters) });
  return (await response.json()) as { access_token: string; refresh_token: string };
}

async function rootFields(demo: Demo): Promise<string[]> {
  const types = ['query', 'mutation', 'subscription'].map((kind) => `${kind}Type { name fields { name } }`);
  const { __schema } = await ask<{ __schema: Record<string, Type> }>(demo, `{ __schema { ${types.join(' ')} } }`);
  return Object.values(__schema).flatMap((type) => type.fields.map(({ name }) => `${type.name}.${name}`));
}

type Type = { name: string; fields: { name: string }[] };

async function someId(demo: Demo, isOfWebhook: boolean): Promise<string> {
  const field = isOfWebhook ? 'webhooks' : 'users';
  type Data = { app: { nodes: { nodes: { id: string }[] } } };
  const { app } = await ask<Data>(demo, `{ app { nodes: ${field}(first: 1) { nodes { id } } } }`);
  return app.nodes.nodes[0]?.id ?? '';
}

/** The id of a delivery of a change that an earlier example made. */
async function someDeliveryId(demo: Demo): Promise<string> {
  type Data = { app: { webhooks: { nodes: { deliveries: { nodes: { id: string }[] } }[] } } };
  const token = await getDemoToken(demo);
  let id: string | undefined;
  await until(async () => {
    const { app } = await ask<Data>(demo, '{ app { webhooks { nodes { deliveries { nodes { id } } } } } }', token);
    id = app.webhooks.nodes[0]?.deliveries.nodes[0]?.id;
    return id !== undefined;
  });
  return id ?? '';
}

type Answer<Data> = { data: Data; errors?: { message: string; extensions: Record<string, string> }[] };

const ask = async <Data>(demo: Demo, query: string, token?: string) => (await send<Data>(demo, query, token)).data;

const errorsOf = async (demo: Demo, query: string) => (await send(demo, query)).errors ?? [];

async function send<Data>(demo: Demo, query: string, given?: string): Promise<Answer<Data>> {
  const token = given ?? (await getDemoToken(demo));
  const response = await fetch(`${demo.url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify({ query }),
  });
  return (await response.json()) as Answer<Data>;
}
