import { loadConfig } from '../../src/config.ts';
import { createListener } from '../../src/http/admission.ts';
import { createRouteOf } from '../../src/http/requestTarget.ts';
import { type HttpServer, listen } from '../../src/http/server.ts';
import { createLog } from '../../src/log.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { callerPath } from '../../src/scheduling/caller.ts';

describe('the listener', () => {
  const flows = new Map<string, readonly string[]>();
  let server: HttpServer;
  beforeAll(async () => {
    const onRequest = createListener({
      answer(request, response) {
        flows.set(request.url ?? '', callerPath());
        response.end();
      },
      refuse: (_request, response) => void response.writeHead(503).end(),
      config: loadConfig({}, 'serve'),
      metrics: createMetrics(),
      routeOf: createRouteOf(['/graphiql']),
      log: createLog('warn'),
    });
    server = await listen('127.0.0.1', 0, onRequest);
  });
  afterAll(() => server.stop(0));

  it.each([
    ['/healthz', 'service'],
    ['/readyz', 'service'],
    ['/graphql', 'strangers 127.0.0.1'],
    ['/access/v1/evaluation', 'strangers 127.0.0.1'],
    ['/access/v1/evaluations', 'strangers 127.0.0.1'],
    ['/oauth/token', 'sign-in 127.0.0.1'],
    ['/graphiql', 'sign-in 127.0.0.1'],
    ['/nothing', 'sign-in 127.0.0.1'],
  ])('serves %s in the flow %s', async (path, flow) => {
    expect((await fetch(`http://127.0.0.1:${server.port}${path}`)).status).toBe(200);

    expect(flows.get(path)?.join(' ')).toBe(flow);
  });
});
