import { ConfigError, loadConfig } from '../src/config.ts';
import { toDriverUrl } from '../src/connectionUrl.ts';

const secretKey = Buffer.alloc(32, 7).toString('base64');

describe('the configuration', () => {
  it('is complete without any variable', () => {
    const config = loadConfig({}, 'serve');

    expect(config).toMatchObject({ host: '127.0.0.1', port: 3000, publicUrl: undefined, secretKey: undefined });
    expect(config.database).toEqual({ kind: 'embedded', dataDir: `${process.cwd()}/.data` });
  });

  it('has the documented limits and throttles by default', () => {
    const { limits, throttle, passwordCost } = loadConfig({}, 'serve');

    expect(limits).toEqual({
      ...{ body: 1_000_000, document: 100_000, tokens: 5000, depth: 310, aliases: 50, rootFields: 20, directives: 20 },
      ...{ fields: 1000, connections: 110, rows: 10_000, bytes: 8_000_000 },
    });
    expect(throttle).toEqual({ requestsPerMinute: 600, failuresPerMinute: 60, failuresPerAccount: 20 });
    expect(passwordCost).toEqual({ memoryKib: 65_536, passes: 3 });
  });

  it('takes an external database and then listens on every address', () => {
    const authUrl = 'postgres://server:secret@db/graph';
    const config = loadConfig({ AUTH_DATABASE_URL: authUrl, SECRET_KEY: secretKey }, 'serve');

    expect(config.database).toEqual({ kind: 'own', ownerUrl: undefined, authUrl: toDriverUrl(authUrl) });
    expect(config.host).toBe('0.0.0.0');
    expect(config.secretKey).toEqual(Buffer.alloc(32, 7));
  });

  it('reports every problem at once, those between variables too', () => {
    const problems = problemsOf({
      PORT: '70000',
      PUBLIC_URL: 'ftp://example.com',
      DATABASE_URL: 'postgres://owner@db/graph',
      SECRET_KEY: 'short',
      LOG_LEVEL: 'loud',
      LIMIT_DEPTH: '0',
      THROTTLE_FAILURES_PER_MINUTE: '1.5',
      PUBLIC_INTROSPECTION: 'maybe',
    });

    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'PORT',
      'PUBLIC_URL',
      'SECRET_KEY',
      'THROTTLE_FAILURES_PER_MINUTE',
      'PUBLIC_INTROSPECTION',
      'LIMIT_DEPTH',
      'LOG_LEVEL',
      'AUTH_DATABASE_URL',
    ]);
  });

  it('bounds the depth by what can be planned', () => {
    expect(loadConfig({ LIMIT_DEPTH: '500' }, 'serve').limits.depth).toBe(500);
    expect(problemsOf({ LIMIT_DEPTH: '501' })).toEqual(['LIMIT_DEPTH: must be a whole number from 1 to 500']);
  });

  it('says each problem once', () => {
    expect(problemsOf({ PORT: 'abc' })).toEqual(['PORT: must be a whole number from 0 to 65535']);
  });

  it('repeats no value, since it may be a secret', () => {
    const secret = 'hunter2';
    const environment = { SECRET_KEY: secret, DATABASE_URL: `mysql://owner:${secret}@db`, AUTH_DATABASE_URL: secret };

    expect(problemsOf(environment)).toHaveLength(3);
    expect(problemsOf(environment).join()).not.toContain(secret);
  });

  it('refuses a replica of the embedded database, which has none', () => {
    expect(problemsOf({ REPLICA_DATABASE_URL: 'postgres://server@replica/graph' })).toEqual([
      'REPLICA_DATABASE_URL: needs AUTH_DATABASE_URL: the embedded database has no replica',
    ]);
  });

  it('takes a second login role for the OAuth server, which must be another one', () => {
    const [authUrl, oauthUrl] = ['postgres://server@db/graph', 'postgres://oauth@db/graph'];
    const environment = { AUTH_DATABASE_URL: authUrl, SECRET_KEY: secretKey };

    const { database } = loadConfig({ ...environment, OAUTH_DATABASE_URL: oauthUrl }, 'serve');
    expect(database).toEqual({
      kind: 'own',
      authUrl: toDriverUrl(authUrl),
      oauthUrl: toDriverUrl(oauthUrl),
    });
    expect(problemsOf({ ...environment, OAUTH_DATABASE_URL: authUrl })).toEqual([
      'OAUTH_DATABASE_URL: must name another role than AUTH_DATABASE_URL; leave it out for one role',
    ]);
    expect(problemsOf({ ...environment, DATABASE_URL: oauthUrl, OAUTH_DATABASE_URL: oauthUrl })).toEqual([
      'OAUTH_DATABASE_URL: must name another role than DATABASE_URL: the server must own nothing',
    ]);
    expect(problemsOf({ OAUTH_DATABASE_URL: oauthUrl })).toEqual([
      'OAUTH_DATABASE_URL: needs AUTH_DATABASE_URL: the embedded database has its own',
    ]);
  });

  it('refuses an authenticator that is the owner', () => {
    const url = 'postgres://owner:secret@db/graph';

    expect(problemsOf({ DATABASE_URL: url, AUTH_DATABASE_URL: url, SECRET_KEY: secretKey })).toEqual([
      'AUTH_DATABASE_URL: must name another role than DATABASE_URL: the server must own nothing',
    ]);
  });

  it('counts an empty variable as unset and ignores an unknown one', () => {
    expect(loadConfig({ PORT: '', PUBLIC_URL: ' ', COLOR: 'blue' }, 'serve').port).toBe(3000);
  });

  it('drops the slash at the end of PUBLIC_URL', () => {
    expect(loadConfig({ PUBLIC_URL: 'https://graph.example.com/api/' }, 'serve').publicUrl).toBe(
      'https://graph.example.com/api',
    );
  });

  it('keeps the metrics off the public port', () => {
    expect(problemsOf({ METRICS_PORT: '3000' }).map((problem) => problem.split(':')[0])).toEqual(['METRICS_PORT']);
    expect(loadConfig({ PORT: '0', METRICS_PORT: '0' }, 'serve').metricsPort).toBe(0);
  });

  it.each([
    [{}, null],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, { protocol: 'http/protobuf' }],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }, { protocol: 'http/protobuf' }],
    [{ OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }, { protocol: 'http/json' }],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_TRACES_EXPORTER: 'none' }, null],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_SDK_DISABLED: 'true' }, null],
  ])("traces when OpenTelemetry's own variables ask for it: %j", (environment, tracing) => {
    expect(loadConfig(environment as Record<string, string>, 'serve').tracing).toEqual(tracing);
  });

  it.each([
    ['serve', { DATABASE_URL: 'postgres://owner@db/graph' }, ['AUTH_DATABASE_URL', 'SECRET_KEY']],
    ['migrate', { AUTH_DATABASE_URL: 'postgres://server@db/graph' }, ['DATABASE_URL']],
    ['admin', { AUTH_DATABASE_URL: 'postgres://server@db/graph' }, ['DATABASE_URL', 'SECRET_KEY']],
  ] as const)('asks of `%s` only what it needs', (command, environment, missing) => {
    expect(problemsOf(environment, command).map((problem) => problem.split(':')[0])).toEqual(missing);
  });

  it.each([
    'postgres://owner:p%40ss@db:5432/graph?sslmode=require',
    'postgresql:///graph?host=/var/run/postgresql',
    'postgres://owner@/graph?host=/var/run/postgresql',
  ])('accepts the connection URL %s', (url) => {
    expect(loadConfig({ AUTH_DATABASE_URL: url, SECRET_KEY: secretKey }, 'serve').database).toMatchObject({
      authUrl: toDriverUrl(url),
    });
  });

  it.each([
    ['sslmode=prefer', /falls back to no encryption/],
    ['sslmode=allow', /falls back to no encryption/],
    ['sslmode=encrypt', /sslmode must be one of disable, require, verify-ca, verify-full/],
    ['sslmode=verify-ca', /needs sslrootcert=<file>/],
    ['sslmode=verify-full&sslrootcert=/no/such/file', /names a certificate whose file cannot be read/],
    ['host=one,two', /names several hosts; the driver takes one/],
    ['sslnegotiation=never', /has a parameter that the driver does not understand/],
  ])('refuses the parameter %s, and says what to write', (parameter, problem) => {
    const url = `postgres://server@db/graph?${parameter}`;
    expect(problemsOf({ AUTH_DATABASE_URL: url, SECRET_KEY: secretKey })).toEqual([
      expect.stringMatching(new RegExp(`^AUTH_DATABASE_URL: .*${problem.source}`)),
    ]);
  });

  it.each([
    [{ PGSSLMODE: 'encrypt' }, /sslmode must be one of disable, require, verify-ca, verify-full/],
    [{ PGSSLMODE: 'verify-ca' }, /needs sslrootcert=<file>/],
    [{ PGSSLMODE: 'require', PGSSLROOTCERT: '/no/such/file' }, /names a certificate whose file cannot be read/],
  ])('refuses the variables %j of the shell where the URL leaves them open', (shell, problem) => {
    const environment = { AUTH_DATABASE_URL: 'postgres://server@db/graph', SECRET_KEY: secretKey };
    expect(problemsOf({ ...environment, ...shell })).toEqual([
      expect.stringMatching(new RegExp(`^AUTH_DATABASE_URL: .*${problem.source}`)),
    ]);
    expect(loadConfig({ ...environment, PGSSLMODE: 'prefer' }, 'serve').database).toMatchObject({
      authUrl: toDriverUrl(environment.AUTH_DATABASE_URL),
    });
  });
});

function problemsOf(environment: Record<string, string>, command: 'serve' | 'migrate' | 'admin' = 'serve'): string[] {
  try {
    loadConfig(environment, command);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  throw new Error('It was accepted.');
}
