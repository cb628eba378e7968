import cluster from 'node:cluster';
import type { RequestListener } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { styleText } from 'node:util';
import { type Config, ConfigError } from '../config.ts';
import { withOwnerPool } from '../database/pool/pools.ts';
import { describeFailure, logFailure, StartupError } from '../errors/errors.ts';
import { readStoredOperations } from '../graphql/document/persisted.ts';
import { createListener, createRefusal } from '../http/admission.ts';
import { createApp } from '../http/app.ts';
import type { Readiness } from '../http/middleware.ts';
import { createRouteOf } from '../http/requestTarget.ts';
import { type HttpServer, listen } from '../http/server.ts';
import type { Log } from '../log.ts';
import { createMetrics } from '../observability/metrics.ts';
import type { DemoAccess } from '../pages/demo.ts';
import { pages } from '../pages/router.ts';
import type { DemoCredentials } from '../provisioning/demo.ts';
import { type ComposedApp, composeApp } from './compose.ts';
import { createResources, lockEmbedded, openConnections, openServerDatabase, secretKeys } from './openConnections.ts';
import { showMetrics } from './serveMetrics.ts';

export type Service = Awaited<ReturnType<typeof startService>>;

type StartOptions = {
  /**
   * Called with the owner's URL of the embedded database before anything is built from it.
   * It is called again when the database has other migrations or was created again.
   */
  readonly prepare?: (embeddedOwnerUrl: string | undefined) => Promise<void>;
  /** Credentials of the demo organization, if another process has started the embedded database. */
  readonly demo?: DemoAccess | null;
  /** Listens only when requests can be served: until then other processes do on the same port. */
  readonly listenWhenServing?: boolean;
  /** Warms up the graph before it answers, so that the first clients are answered as fast as later ones. */
  readonly warmsUp?: boolean;
  /** Whether a developer uses it, and it is not production: on the embedded database GraphiQL then says which policy decided. */
  readonly isForDevelopers?: boolean;
};

/**
 * Starts everything that the configuration asks for; resolves when requests can be served.
 * If an external database is unavailable or behind, it resolves too, answers 503 and retries, since the database may recover at any time.
 * A wrong SECRET_KEY that is found later ends the process as one at the start does.
 *
 * @throws {StartupError} when it cannot start; everything that was started has stopped
 * @throws {ConfigError} when the stored operations are not valid, or SECRET_KEY is not the database's
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the order of the steps of a start matters, and each needs what the ones before have opened.
export async function startService(
  config: Config,
  log: Log,
  { prepare, demo = null, listenWhenServing = false, warmsUp = false, isForDevelopers = false }: StartOptions = {},
) {
  const resources = createResources();
  const stopping = new AbortController();
  const { trustedProxies, corsOrigins } = config;
  const isHttps = config.publicUrl?.startsWith('https:') ?? false;
  const appOptions = { log, trustedProxies, isHttps, corsOrigins, readiness: () => state.readiness() };

  // Fail fast: the stored operations, the data directory, then the port.
  const operations = config.persistedOperations ? await readStoredOperations(config.persistedOperations) : null;
  await lockEmbedded(config, resources);
  let state: State = {
    name: 'starting',
    readiness: async () => 'The service is starting.',
    answer: createApp({ ...appOptions, routes: null }),
    composed: null,
  };
  const workerId = cluster.worker?.id ?? 1;
  const metrics = createMetrics(String(workerId));
  const onRequest = createListener({
    answer: (request, response) => state.answer(request, response),
    refuse: createRefusal({ log, isHttps, corsOrigins }),
    config,
    metrics,
    routeOf: createRouteOf(pages.map(({ path }) => path)),
    log,
  });
  const open = () => listen(config.host, config.port, onRequest, config.maxConnections);
  let server: HttpServer | null = null;
  /**
   * Finishes the requests in flight (at most 8 s), then releases everything.
   *
   * @param preStopMs how long new requests are still served, with `Connection: close`
   */
  const stop = async (preStopMs = 0): Promise<void> => {
    stopping.abort();
    state = { ...state, name: 'stopping', readiness: async () => 'The service is stopping.' };
    state.composed?.endStreams();
    await server?.stop(drainMs, preStopMs);
    await resources.disposeAsync();
  };

  try {
    if (!listenWhenServing) server = await open();
    if (!config.explorers && workerId === 1)
      log.info({ pages: pages.map(({ path }) => path) }, 'these pages are off: EXPLORERS is not true');
    // Starts before anything is traced, and ends after it.
    if (config.tracing) {
      const { startTracing } = await import('../observability/startTracing.ts');
      resources.defer(await startTracing(config.tracing, log));
    }
    const shown = await showMetrics(config, metrics);
    if (shown) resources.defer(() => shown.stop(0));
    const url = config.publicUrl ?? `http://localhost:${server?.port ?? config.port}`;
    const keys = await secretKeys(config);
    const { logins, ownerUrl, embedded, provision } = await openServerDatabase(config, { url, keys }, log, resources);
    await prepare?.(ownerUrl);
    const { readiness, ...connections } = openConnections({ config, logins, metrics, log }, resources);
    const compose = () =>
      composeApp({
        ...{
          ...connections,
          config,
          url,
          authUrl: logins.authUrl,
          keys,
          operations,
          metrics,
          warmsUp,
          log,
          stopping: stopping.signal,
        },
        demo: embedded?.demo ?? demo,
        withOwner: isForDevelopers && ownerUrl !== undefined ? (work) => withOwnerPool(ownerUrl, log, work) : null,
        prepare: async () => {
          await provision();
          await prepare?.(ownerUrl);
        },
      });
    const serving = Promise.withResolvers<void>();
    const build = async (): Promise<string | null> => {
      const reason = await readiness();
      if (reason !== null || state.name === 'stopping') return reason;
      const composed = await compose();
      resources.defer(composed.stop);
      if (stopping.signal.aborted) return 'The service is stopping.';
      state = { name: 'serving', readiness, answer: createApp({ ...appOptions, routes: composed }), composed };
      server ??= await open();
      serving.resolve();
      return null;
    };
    const reasonToWait = async () => (await readiness()) ?? 'The GraphQL schema is being built.';
    state = { ...state, name: 'building', readiness: reasonToWait };
    let reason = await build();
    // The embedded database has just been started: on a busy machine, its first answer takes longer than a probe waits.
    for (let tries = 1; embedded && reason !== null && tries < maxEmbeddedTries; tries++) reason = await build();
    if (reason !== null) {
      if (config.database.kind === 'embedded') throw new StartupError(reason);
      const built = retryUntilReady(build, stopping.signal, log);
      resources.defer(() => built);
    }
    return {
      url,
      explorers: config.explorers,
      embedded,
      /**
       * Hot-swaps the schema after a change of the catalogue, dropping no request; null while none is built.
       *
       * @throws when the schema cannot be built; the old one stays in use
       */
      reload: async () => (await state.composed?.reload()) ?? null,
      /** Resolves when requests are served: after the start if the database is unavailable or behind. */
      serving: serving.promise,
      /** The port of `/metrics`; null when this process does not serve them itself. */
      metricsPort: shown?.port ?? null,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * starting → building → serving; each → stopping.
 * While an external database is unavailable or behind, the service stays in building and retries. The composed app serves until the drain
 * ends.
 */
type State = {
  readonly name: 'starting' | 'building' | 'serving' | 'stopping';
  readonly readiness: Readiness;
  readonly answer: RequestListener;
  /** Null before it serves. */
  readonly composed: ComposedApp | null;
};

/** How long requests in flight may take once the service stops; all of a stop then takes less than 10 s. */
export const drainMs = 8000;

async function retryUntilReady(build: () => Promise<string | null>, signal: AbortSignal, log: Log): Promise<void> {
  let reason: string | null;
  let logged = '';
  do {
    await delay(1000, undefined, { signal }).catch(() => undefined);
    reason = await build().catch((error: unknown) => {
      if (error instanceof ConfigError) throw error;
      // Once until it changes: it is tried again every second.
      const cause = describeFailure(error);
      if (cause !== logged) logFailure(log, 'error', { error }, 'not ready yet; retrying');
      logged = cause;
      return 'failed';
    });
  } while (reason !== null && !signal.aborted);
}

/** With a probe's three seconds each, half a minute. */
const maxEmbeddedTries = 10;

export type Started = {
  /** The specification's `{base_url}`. */
  url: string;
  /** Whether the pages beside the API are served. */
  explorers: boolean;
  /** Unset with an external database. */
  embedded: { cluster: string; demo: DemoCredentials; issueToken(): Promise<string | null> } | undefined;
};

/** The startup banner on stdout: the addresses, the demo's credentials, and a command that asks it. */
export async function startupBanner({ url, explorers, embedded }: Started): Promise<string[]> {
  return [
    `Graph Query Service: ${url}`,
    ...(explorers ? pages.map(({ title, path }) => `${title}: ${url}${path}`) : []),
    ...(embedded ? embeddedLines(url, embedded, await embedded.issueToken()) : []),
  ];
}

/** A line for each kind of credential, and one command. */
function embeddedLines(
  url: string,
  { cluster, demo }: NonNullable<Started['embedded']>,
  token: string | null,
): string[] {
  const { clientSecret, password, externalAuthenticationToken } = demo;
  return [
    `Database: an embedded PostgreSQL in ${cluster}, migrated, with the organization Demo`,
    `Demo credentials of an application: client_id demo-backend, client_secret ${clientSecret}`,
    `Demo credentials of a user: username ada@demo.test, password ${password}, client_id demo-mobile`,
    `Demo credentials of a user's other system: external_authentication_token ${externalAuthenticationToken}, client_id demo-external`,
    ...(token === null ? [] : [curl(url, token)]),
  ];
}

/** A command that needs nothing but curl, from any folder. Its token is like that of `npm run -s token`. */
function curl(url: string, token: string): string {
  const json = JSON.stringify({ query: '{ app { name users(first: 3) { nodes { id fullName } } } }', variables: {} });
  return `curl -s ${url}/graphql -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '${json}'`;
}

/** Colours what a person looks for. It has none unless stdout is a terminal, nor with `NO_COLOR`. */
export function inColour(lines: readonly string[]): string {
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, text, { stream: process.stdout });
  return lines
    .map((line) => {
      const [, label, value = ''] = /^([A-Z][^:]*: )(.*)$/.exec(line) ?? [];
      if (label === undefined) return style('green', line);
      return style('bold', label) + (value.startsWith('http') ? style('cyan', value) : value);
    })
    .join('\n');
}
