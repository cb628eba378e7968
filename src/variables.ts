import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';

// No message repeats a value: some of them are secrets.
const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, { error: `must be a whole number from ${min} to ${max}`, abort: true })
    .transform(Number)
    .pipe(z.number().min(min, expected(min, max)).max(max, expected(min, max)));

const expected = (min: number, max: number) => `must be a whole number from ${min} to ${max}`;

const limit = (fallback: number, max = 1_000_000_000) => wholeNumber(1, max).default(fallback);

export const isPostgresUrl = (value: string): boolean =>
  /^postgres(ql)?:\/\//.test(value) && URL.canParse(value.replace('@/', '@localhost/'));

const postgresUrl = z
  .string()
  .refine(
    isPostgresUrl,
    'must be a URL such as postgres://user:password@host:5432/database, with %23 for # in a password, and so on',
  );

const secretKey = z
  .string()
  .regex(/^[A-Za-z0-9+/_-]{43}=?$/, 'must be 32 bytes in base64; `openssl rand -base64 32` prints a new one')
  .transform((value) => Buffer.from(value, 'base64'));

const publicUrl = z
  .string()
  .refine(isBaseUrl, 'must be an http or https URL without user, query or fragment, such as https://graph.example.com')
  .transform((value) => value.replace(/\/+$/, ''));

const origins = z
  .string()
  .transform((value) => value.split(/[\s,]+/).filter(Boolean))
  .refine(
    (values) => values.every((value) => URL.parse(value)?.origin === value),
    'must be origins such as https://app.example.com, separated by commas',
  );

const traceProtocol = z.enum(['http/protobuf', 'http/json'], { error: 'must be http/protobuf or http/json' });

function isBaseUrl(value: string): boolean {
  const url = URL.parse(value);
  return !!url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !/[?#]/.test(value);
}

const trueOrFalse = z.stringbool({ error: 'must be true or false' });

const folder = z.string().transform((path) => resolve(path));

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Each variable's rule, default and meaning; docs/configuration.md and `--help` are made of these. */
export const variables = z.object({
  HOST: z
    .string()
    .refine((value) => isIP(value) !== 0 || /^[a-z\d.-]+$/i.test(value), 'must be an address or a host name')
    .optional()
    .meta({ unset: '`127.0.0.1` for the embedded demo, else `0.0.0.0`', description: 'Address to listen on.' }),
  PORT: wholeNumber(0, 65_535).default(3000).describe('Port to listen on; `0` takes any.'),
  PUBLIC_URL: publicUrl.optional().meta({ unset: '`http://localhost:PORT`', description: 'URL that clients use.' }),
  TRUST_PROXY: wholeNumber(0, 100).default(0).describe('Reverse proxies in front whose word about clients counts.'),
  CORS_ORIGINS: origins.default([]).meta({
    unset: 'none; in the demo `http://localhost` and `http://127.0.0.1` on any port',
    description: 'Origins of web pages that may call the API, separated by commas.',
  }),
  METRICS_PORT: wholeNumber(0, 65_535).optional().describe('Port of `/metrics`, on `HOST`; `0` takes any.'),
  DATA_DIR: z.string().default('.data').describe('Folder of the embedded PostgreSQL.'),
  DATABASE_URL: postgresUrl.optional().describe('Owner of your own database: migrations, admin commands.'),
  AUTH_DATABASE_URL: postgresUrl.optional().describe('Authenticator of your own database: for the running server.'),
  OAUTH_DATABASE_URL: postgresUrl
    .optional()
    .meta({ unset: 'the authenticator', description: 'Login role of the OAuth server alone.' }),
  REPLICA_DATABASE_URL: postgresUrl.optional().describe('The authenticator at a streaming replica: answers queries.'),
  DATABASE_POOL_SIZE: wholeNumber(1, 1000).default(10).describe('Connections of all workers; at least two each.'),
  DATABASE_POOL_WAIT_MS: wholeNumber(100, 600_000)
    .default(2000)
    .describe('Wait budget of a request, in the queue and for connections together; then 503.'),
  DATABASE_PREPARED_STATEMENTS: trueOrFalse
    .default(true)
    .describe('`false` for a transaction pooler without prepared statements, such as PgBouncer before 1.21.'),
  STATEMENT_TIMEOUT_MS: wholeNumber(100, 600_000).default(10_000).describe('Longest time of one statement.'),
  SECRET_KEY: secretKey.optional().meta({
    unset: 'made once for the embedded demo',
    description: '32 bytes in base64 (`openssl rand -base64 32`); required with your own database.',
  }),
  SECRET_KEY_PREVIOUS: secretKey
    .optional()
    .describe('The other key during a change: opens what it sealed, and seals nothing.'),
  ARGON2_MEMORY_KIB: wholeNumber(32, 4_194_304).default(65_536).describe("Memory for a password's hash (argon2id)."),
  ARGON2_PASSES: wholeNumber(1, 1000).default(3).describe("Passes for a password's hash."),
  WORKERS: wholeNumber(1, 256).optional().meta({
    unset: 'one per core under `NODE_ENV=production`, else one process alone',
    description: 'Processes that serve requests, beside their supervisor.',
  }),
  MAX_WAITING: wholeNumber(0, 100_000).default(300).describe('Queued requests of a process before load shedding.'),
  MAX_CONNECTIONS: wholeNumber(1, 1_000_000)
    .default(5000)
    .describe('Client connections of a process; more are closed.'),
  THROTTLE_REQUESTS_PER_MINUTE: limit(600).describe('OAuth requests of one address; five times that of one client.'),
  THROTTLE_FAILURES_PER_MINUTE: limit(60).describe('Failed authentications of one address.'),
  THROTTLE_FAILURES_PER_ACCOUNT: limit(20).describe('Failed sign-ins of one account and address in 15 minutes.'),
  WEBHOOKS: z.enum(['on', 'off']).default('on').describe('`off`: no process sends webhooks, as for a copy of files.'),
  WEBHOOK_WORKER: trueOrFalse.default(true).describe('`false` where `npm run worker` alone sends webhooks.'),
  WEBHOOK_PRIVATE_ADDRESSES: trueOrFalse
    .default(false)
    .describe('Whether webhooks may have http and addresses that are not public.'),
  PUBLIC_INTROSPECTION: trueOrFalse.default(true).describe('Whether the schema is readable without a token.'),
  EXPLORERS: trueOrFalse.optional().meta({
    unset: '`true` for the embedded demo, else `false`',
    description:
      'Whether GraphiQL, the playground and the documentation are served, on the origin of the sign-in pages.',
  }),
  PERSISTED_OPERATIONS: folder.optional().describe('Folder of the only documents that are answered.'),
  COMPILATION: trueOrFalse.default(true).describe('Whether repeated operations run compiled, without Grafast.'),
  LIMIT_BODY_BYTES: limit(1_000_000).describe('Most bytes that a body may have.'),
  LIMIT_DOCUMENT_BYTES: limit(100_000).describe('Most bytes that a document may have.'),
  LIMIT_TOKENS: limit(5000).describe('Most tokens (names, values, punctuation) that a document may have.'),
  // More would fail: `maxPlanningDepth` takes up to four steps a field, and `maxNesting` a bracket for it and its fragment.
  LIMIT_DEPTH: limit(310, 500).describe('Most levels of fields that an operation may have.'),
  LIMIT_ALIASES: limit(50).describe('Most aliases that an operation may have.'),
  LIMIT_ROOT_FIELDS: limit(20).describe('Most root fields that an operation may have.'),
  LIMIT_DIRECTIVES: limit(20).describe('Most directives that an operation may have.'),
  LIMIT_FIELDS: limit(1000).describe('Most fields that an operation may have.'),
  LIMIT_CONNECTIONS: limit(110).describe('Most connections, as of users or children, that an operation may have.'),
  LIMIT_ROWS: limit(10_000).describe('Most rows that an operation may return. They are counted as they come.'),
  LIMIT_BYTES: limit(8_000_000).describe('Most bytes that an answer may have. They are counted while it is written.'),
  LOG_LEVEL: z
    .enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` })
    .default('info')
    .describe('Lowest level that is logged.'),
  SLOW_MS: wholeNumber(0, 600_000).default(1000).describe('Operations as slow are logged with SQL and plan.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.string().optional().describe('Collector of traces; unset: none are exported.'),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.string().optional().describe('The same, as the full URL for traces alone.'),
  OTEL_TRACES_EXPORTER: z
    .enum(['otlp', 'none'], { error: 'must be otlp or none' })
    .optional()
    .meta({ unset: '`otlp` with an endpoint, else `none`', description: 'Whether traces are exported.' }),
  OTEL_EXPORTER_OTLP_PROTOCOL: traceProtocol
    .optional()
    .meta({ unset: '`http/protobuf`', description: 'Their format.' }),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: traceProtocol.optional().describe('The same, for traces alone.'),
  OTEL_SDK_DISABLED: trueOrFalse.default(false).describe('Whether tracing is off, whatever the others say.'),
});

export type Variables = z.output<typeof variables>;

/** The variables of limits, by the values of `extensions.limit`. */
const limitVariables = {
  body: 'LIMIT_BODY_BYTES',
  document: 'LIMIT_DOCUMENT_BYTES',
  tokens: 'LIMIT_TOKENS',
  depth: 'LIMIT_DEPTH',
  aliases: 'LIMIT_ALIASES',
  rootFields: 'LIMIT_ROOT_FIELDS',
  directives: 'LIMIT_DIRECTIVES',
  fields: 'LIMIT_FIELDS',
  connections: 'LIMIT_CONNECTIONS',
  rows: 'LIMIT_ROWS',
  bytes: 'LIMIT_BYTES',
} as const;

type Limits = Readonly<Record<keyof typeof limitVariables, number>>;

/** The limits by the values of `extensions.limit`; `body`, `document` and `bytes` are in bytes. */
export const limitsOf = (values: Variables) =>
  Object.fromEntries(Object.entries(limitVariables).map(([limit, name]) => [limit, values[name]])) as Limits;

/** The meaning of a limit; empty for an unknown one. */
export const limitMeaning = (limit: string): string =>
  limit in limitVariables ? (variables.shape[limitVariables[limit as keyof Limits]].description ?? '') : '';

/** Each variable's values, default and meaning in Markdown; `unset` says a default in words. */
export function describeVariables() {
  const code = (value: unknown) => `\`${value}\``;
  return Object.entries<z.ZodType>(variables.shape).map(([name, field]) => {
    const schema = z.toJSONSchema(field, { unrepresentable: 'any' });
    const { type, enum: choices = type === 'boolean' ? [true, false] : [], minimum, maximum } = schema;
    const values = type === 'number' ? `${minimum} to ${maximum}` : choices.map(code).join(', ');
    const unset = String(schema.unset ?? [schema.default ?? []].flat().map(code).join(', '));
    return { name, values, unset, meaning: schema.description ?? '' };
  });
}
