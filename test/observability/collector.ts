import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { opened } from '../support/openThings.ts';

export type CollectedSpan = {
  traceId: string;
  spanId: string;
  /** The id of the span above; unset for the first. */
  parentSpanId?: string;
  name: string;
  kind: number;
  status: { code?: number; message?: string };
  attributes: Record<string, unknown>;
};

export type Collector = {
  url: string;
  /** Every span that was sent so far. */
  spans: CollectedSpan[];
  /** Every body as it was sent. */
  bodies: Buffer[];
  contentTypes: Set<string>;
  /** The resources that the spans name. */
  resources: Record<string, unknown>[];
  stop(): Promise<void>;
};

/** Takes traces as an OpenTelemetry collector does, in OTLP's JSON; of protobuf it keeps the bytes. */
export async function startCollector(): Promise<Collector> {
  const [spans, bodies, resources]: [CollectedSpan[], Buffer[], Record<string, unknown>[]] = [[], [], []];
  const contentTypes = new Set<string>();
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    const contentType = request.headers['content-type'] ?? '';
    bodies.push(body);
    contentTypes.add(`${request.url} ${contentType}`);
    if (contentType === 'application/json') {
      for (const { resource, scopeSpans } of JSON.parse(body.toString()).resourceSpans) {
        resources.push(toRecord(resource.attributes));
        for (const { spans: sent } of scopeSpans)
          spans.push(...sent.map((span: Sent) => ({ ...span, attributes: toRecord(span.attributes) })));
      }
    }
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const closed = opened('collector');
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    closed();
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, spans, bodies, contentTypes, resources, stop };
}

type SentAttribute = { key: string; value: Record<string, unknown> };
type Sent = Omit<CollectedSpan, 'attributes'> & { attributes: SentAttribute[] };

const toRecord = (attributes: SentAttribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}
