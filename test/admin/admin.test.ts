import { randomBytes } from 'node:crypto';
import { documentJsonSchema } from '../../src/provisioning/document.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { adminInProcess } from './inProcess.ts';
import { runAdmin } from './support.ts';

// Processes where what the process does is asked for; the others run in this one, since each start takes half a second.

describe('the admin command line', () => {
  let database: TestDatabase;
  let environment: Record<string, string>;

  beforeAll(async () => {
    database = await createTestDatabase();
    environment = { DATABASE_URL: database.ownerUrl, SECRET_KEY: randomBytes(32).toString('base64') };
  });

  afterAll(async () => {
    await database.drop();
  });

  const document = { organizations: [{ name: 'Acme', applications: [{ name: 'Backend', clientId: 'backend' }] }] };

  it('lists its commands without a configuration', async () => {
    const { code, stdout, stderr } = await runAdmin(['--help'], {});

    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}apply \[options\] \[file\]/m);
    expect(stdout).toMatch(/^ {2}database-url/m);
    expect(stderr).toBe('');
  });

  it('prints the JSON Schema of a document without a configuration', async () => {
    const { code, stdout } = await runAdmin(['apply', '--schema'], {});

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(documentJsonSchema());
  });

  it.each([
    ['no command', [], 'Usage: admin'],
    ['an unknown command', ['aply'], "unknown command 'aply'"],
    ['a missing file', ['apply'], "missing required argument 'file'"],
    ['an unknown option', ['apply', 'file', '--force'], "unknown option '--force'"],
  ])('refuses %s with 64', async (_, args, message) => {
    const { code, stdout, stderr } = await adminInProcess(args, environment);

    expect(code).toBe(64);
    expect(stdout).toBe('');
    expect(stderr).toContain(message);
  });

  it('applies a document from standard input and prints the result as JSON', async () => {
    const first = await runAdmin(['apply', '-'], environment, JSON.stringify(document));
    const second = await runAdmin(['apply', '-'], environment, JSON.stringify(document));

    const { rows } = await database.owner.query('select id from app_hidden.organizations');
    const expected = { id: rows[0].id, name: 'Acme', applications: [{ name: 'Backend', clientId: 'backend' }] };
    expect(first.code).toBe(0);
    expect(JSON.parse(first.stdout)).toEqual({
      organizations: [
        {
          ...expected,
          applications: [{ ...expected.applications[0], clientSecret: expect.stringMatching(/^gqs_cs_/) }],
        },
      ],
    });
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(second.stdout)).toEqual({ organizations: [expected] });
  });

  it('prints every problem with its path on stderr', async () => {
    const broken = {
      organizations: [{ name: '', users: [{ externalIdentifier: 'u', email: 'nobody', fullName: 'U' }] }],
      more: 1,
    };

    const { code, stdout, stderr } = await runAdmin(['apply', '-'], environment, JSON.stringify(broken));

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.split('\n')).toEqual([
      'more: is not known',
      'organizations[0].name: must have 1 to 200 characters',
      'organizations[0].users[0].email: must have one @ and no space',
      'Nothing was changed: there are 3 problems.',
      '',
    ]);
  });

  it.each([
    ['nothing', '', 'Standard input is empty'],
    ['half of it', '{"sesame":', 'Standard input is not JSON: it ends too early.'],
    ['lacking quotes', '{"organizations": sesame}', 'Standard input is not JSON: there is a "s" where none can be.'],
    ['lacking a comma', '{"a": "sesame"\n  "b": 1}', 'Standard input is not JSON: see line 2, column 3.'],
  ])('says what is wrong with the text when it is %s, and quotes nothing', async (_, input, message) => {
    const { code, stdout, stderr } = await adminInProcess(['apply', '-'], environment, input);

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('sesame');
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('says that a file cannot be read', async () => {
    const { code, stderr } = await adminInProcess(['apply', '/nonexistent/acme.json'], environment);

    expect(code).toBe(1);
    expect(stderr).toContain('Cannot read /nonexistent/acme.json.');
  });

  it("prints the owner's URL of a database of one's own", async () => {
    expect(await adminInProcess(['database-url'], environment)).toEqual({
      code: 0,
      stdout: `${database.ownerUrl}\n`,
      stderr: '',
    });
  });

  it('says what is missing in the configuration', async () => {
    const { code, stderr } = await runAdmin(
      ['apply', '-'],
      { DATABASE_URL: database.ownerUrl },
      JSON.stringify(document),
    );

    expect(code).toBe(78);
    expect(stderr).toContain('SECRET_KEY');
  });

  it('says that a database has not been migrated', async () => {
    const url = new URL(database.ownerUrl);
    url.pathname = '/postgres';

    const { code, stdout, stderr } = await runAdmin(
      ['apply', '-'],
      { ...environment, DATABASE_URL: url.href },
      JSON.stringify(document),
    );

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('npm run db:migrate');
  });
});
