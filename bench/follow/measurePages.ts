import type { TreeService } from '../data/startTree.ts';
import { atMost, type Measured, percentile } from '../support/measured.ts';

const pages = 300;
/** Not counted: the offload thread starts with the first, and compiles; and PostgreSQL still tidies up what was filled. */
const pagesToWarmUp = 400;
const maxMs = 15;
/** Into one of thirty falls a collection of the thread's whole heap. */
const maxP99Ms = 75;

/** Pages of 1,000 changes from the oldest on. */
export async function measurePages(service: TreeService, kept: number): Promise<Measured[]> {
  const latencies: number[] = [];
  let after: string | null = null;
  for (let page = 0; page < pagesToWarmUp + pages; page++) {
    const startedAt = performance.now();
    const { text } = await service.send(query, { after });
    if (page >= pagesToWarmUp) latencies.push(performance.now() - startedAt);
    const { changes } = JSON.parse(text).data.app;
    if (changes.nodes.length !== 1000) throw new Error(`A page has ${changes.nodes.length} changes`);
    after = changes.pageInfo.endCursor;
  }
  return [
    atMost(`a page of 1,000 of ${kept} changes, p50`, percentile(latencies, 0.5), maxMs, 'ms'),
    atMost(`a page of 1,000 of ${kept} changes, p99`, percentile(latencies, 0.99), maxP99Ms, 'ms'),
  ];
}

const query = `query ($after: Cursor) { app { changes(first: 1000, after: $after) {
  nodes { cursor operation typeName id fields at } pageInfo { endCursor } } } }`;
