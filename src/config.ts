import { resolve } from 'node:path';
import { problemOfConnectionUrl, toDriverUrl } from './connectionUrl.ts';
import { isPostgresUrl, limitsOf, type Variables, variables } from './variables.ts';

/** The subcommand; each requires other variables with an external database. */
export type Command = 'serve' | 'worker' | 'migrate' | 'admin' | 'dev' | 'migrations';

/**
 * Parses environment variables into settings; unknown ones are ignored, empty ones count as unset.
 *
 * @throws {ConfigError} with every problem at once; nothing has been started by then
 */
export function loadConfig(env: Record<string, string | undefined>, command: Command): Config {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));
  const result = variables.safeParse(set);
  const problems = [
    ...(result.error?.issues ?? []).map((issue) => `${issue.path.join('.')}: ${issue.message}`),
    ...problemsWithOwnDatabase(set, command),
    ...problemsWithUrls(set),
    ...problemsWithPorts(set),
  ];
  if (!result.success || problems.length > 0) throw new ConfigError(problems);
  return toConfig(result.data, set);
}

export type Config = ReturnType<typeof toConfig>;

/** Which PostgreSQL to use: the embedded one in `dataDir`, or an external one by the driver's URLs ({@link toDriverUrl}). */
export type DatabaseConfig =
  | { kind: 'embedded'; dataDir: string }
  | { kind: 'own'; ownerUrl: string | undefined; authUrl: string | undefined; oauthUrl?: string | undefined };

/** A variable has a value that cannot be used: exit code 78 (`EX_CONFIG` of sysexits.h). */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly problems: string[];

  constructor(problems: string[]) {
    super(
      `The configuration is not valid; nothing was started.\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
    );
    this.problems = problems;
  }
}

/** The problems of variables with each other, by raw values, so that a wrong one elsewhere hides none. */
function problemsWithOwnDatabase(env: Record<string, string | undefined>, command: Command): string[] {
  const { DATABASE_URL: owner, AUTH_DATABASE_URL: authenticator } = env;
  if (!owner && !authenticator) return problemsWithEmbedded(env);
  const problems = requiredWithOwnDatabase[command]
    .filter((name) => !env[name])
    .map((name) => `${name}: ${whyNeeded[name]}`);
  for (const name of ['AUTH_DATABASE_URL', 'OAUTH_DATABASE_URL'] as const) {
    if (!owner || !sameUser(owner, env[name])) continue;
    problems.push(`${name}: must name another role than DATABASE_URL: the server must own nothing`);
  }
  if (authenticator && sameUser(authenticator, env.OAUTH_DATABASE_URL)) {
    problems.push('OAUTH_DATABASE_URL: must name another role than AUTH_DATABASE_URL; leave it out for one role');
  }
  return problems;
}

function problemsWithEmbedded(env: Record<string, string | undefined>): string[] {
  return Object.entries({ OAUTH_DATABASE_URL: 'has its own', REPLICA_DATABASE_URL: 'has no replica' })
    .filter(([name]) => env[name])
    .map(([name, why]) => `${name}: needs AUTH_DATABASE_URL: the embedded database ${why}`);
}

const databaseUrls = ['DATABASE_URL', 'AUTH_DATABASE_URL', 'OAUTH_DATABASE_URL', 'REPLICA_DATABASE_URL'] as const;

function problemsWithUrls(env: Record<string, string | undefined>): string[] {
  return databaseUrls.flatMap((name) => {
    const url = env[name];
    const problem = url && isPostgresUrl(url) ? problemOfConnectionUrl(url, env) : null;
    return problem ? [`${name}: ${problem}`] : [];
  });
}

function problemsWithPorts({ PORT = '3000', METRICS_PORT }: Record<string, string | undefined>): string[] {
  const areOne = METRICS_PORT !== undefined && METRICS_PORT !== '0' && METRICS_PORT === PORT;
  return areOne ? ['METRICS_PORT: must be another port than PORT: not everybody shall read the metrics'] : [];
}

const requiredWithOwnDatabase = {
  serve: ['AUTH_DATABASE_URL', 'SECRET_KEY'],
  worker: ['AUTH_DATABASE_URL', 'SECRET_KEY'],
  migrate: ['DATABASE_URL', 'AUTH_DATABASE_URL'],
  admin: ['DATABASE_URL', 'SECRET_KEY'],
  dev: ['DATABASE_URL', 'AUTH_DATABASE_URL', 'SECRET_KEY'],
  /** Works on migrations, so it needs no setting of the server. */
  migrations: ['DATABASE_URL'],
} as const;

/** A required setting, which `loadConfig` has checked for the commands that need it. */
export function requireSetting<T>(value: T | undefined, name: keyof typeof whyNeeded): T {
  if (value === undefined) throw new ConfigError([`${name}: ${whyNeeded[name]}`]);
  return value;
}

/** The URLs for migrating an external database. @throws {ConfigError} when one is not set */
export function ownUrls({ ownerUrl, authUrl, oauthUrl }: DatabaseConfig & { kind: 'own' }) {
  const owner = requireSetting(ownerUrl, 'DATABASE_URL');
  return { ownerUrl: owner, authUrl: requireSetting(authUrl, 'AUTH_DATABASE_URL'), oauthUrl };
}

const whyNeeded = {
  DATABASE_URL: "is needed beside AUTH_DATABASE_URL: the owner's connection, for migrations and admin commands",
  AUTH_DATABASE_URL: "is needed beside DATABASE_URL: the authenticator's connection, all that the server needs",
  SECRET_KEY: 'is needed with a database of your own; `openssl rand -base64 32` prints a new one',
};

function sameUser(one: string, other = ''): boolean {
  const user = URL.parse(one)?.username;
  return !!user && user === URL.parse(other)?.username;
}

/** Tracing by the OpenTelemetry specification, except that nothing is exported by default. */
function tracingOf(env: Variables) {
  const hasEndpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  const exporter = env.OTEL_TRACES_EXPORTER ?? (hasEndpoint ? 'otlp' : 'none');
  if (env.OTEL_SDK_DISABLED || exporter === 'none') return null;
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/protobuf';
  return { protocol };
}

const originsOfThisMachine = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

function toConfig(env: Variables, shell: Record<string, string | undefined>) {
  const driverUrl = (url: string | undefined) => url && toDriverUrl(url, shell);
  const database: DatabaseConfig =
    env.DATABASE_URL || env.AUTH_DATABASE_URL
      ? {
          kind: 'own',
          ownerUrl: driverUrl(env.DATABASE_URL),
          authUrl: driverUrl(env.AUTH_DATABASE_URL),
          oauthUrl: driverUrl(env.OAUTH_DATABASE_URL),
        }
      : { kind: 'embedded', dataDir: resolve(env.DATA_DIR) };

  return {
    database,
    /** The demo stays on this machine; a server with an external database usually runs in a container. */
    host: env.HOST ?? (database.kind === 'embedded' ? '127.0.0.1' : '0.0.0.0'),
    port: env.PORT,
    /** The specification's `{base_url}`, without a slash at its end; unset means `http://localhost:<port>`. */
    publicUrl: env.PUBLIC_URL,
    trustedProxies: env.TRUST_PROXY,
    corsOrigins: [...env.CORS_ORIGINS, ...(database.kind === 'embedded' ? [originsOfThisMachine] : [])],
    workers: env.WORKERS,
    maxWaiting: env.MAX_WAITING,
    maxConnections: env.MAX_CONNECTIONS,
    replicaUrl: driverUrl(env.REPLICA_DATABASE_URL),
    poolSize: env.DATABASE_POOL_SIZE,
    poolWaitMs: env.DATABASE_POOL_WAIT_MS,
    preparedStatements: env.DATABASE_PREPARED_STATEMENTS,
    statementTimeoutMs: env.STATEMENT_TIMEOUT_MS,
    /** 32 bytes; unset only with the embedded database, which keeps one in its data directory. */
    secretKey: env.SECRET_KEY,
    secretKeyPrevious: env.SECRET_KEY_PREVIOUS,
    logLevel: env.LOG_LEVEL,
    slowMs: env.SLOW_MS,
    metricsPort: env.METRICS_PORT,
    /** Null unless OpenTelemetry's own variables say where traces go. */
    tracing: tracingOf(env),
    webhooks: env.WEBHOOKS === 'on',
    webhookWorker: env.WEBHOOK_WORKER,
    webhookPrivateAddresses: env.WEBHOOK_PRIVATE_ADDRESSES,
    publicIntrospection: env.PUBLIC_INTROSPECTION,
    persistedOperations: env.PERSISTED_OPERATIONS,
    compilation: env.COMPILATION,
    /** GraphiQL, the playground and the documentation: their scripts share the origin of the sign-in pages. */
    explorers: env.EXPLORERS ?? database.kind === 'embedded',
    limits: limitsOf(env),
    /** The cost of argon2id; by default RFC 9106's second recommendation, about 0.1 s. */
    passwordCost: { memoryKib: env.ARGON2_MEMORY_KIB, passes: env.ARGON2_PASSES },
    throttle: {
      requestsPerMinute: env.THROTTLE_REQUESTS_PER_MINUTE,
      failuresPerMinute: env.THROTTLE_FAILURES_PER_MINUTE,
      failuresPerAccount: env.THROTTLE_FAILURES_PER_ACCOUNT,
    },
  };
}
