import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createMetadataRouter } from '../../src/authzen/endpoint.ts';
import type { GraphTest } from '../graphql/support.ts';
import { shareService } from '../support/sharedService.ts';

let graph: GraphTest;
beforeAll(async () => {
  graph = await shareService();
});

describe('the metadata', () => {
  it('names the endpoints below PUBLIC_URL, and these answer', async () => {
    const response = await fetch(`${graph.url}/.well-known/authzen-configuration`);
    const metadata = (await response.json()) as Record<string, string>;

    expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(response.headers.get('Cache-Control')).toBe('max-age=600');
    expect(metadata).toEqual({
      policy_decision_point: graph.url,
      access_evaluation_endpoint: `${graph.url}/access/v1/evaluation`,
      access_evaluations_endpoint: `${graph.url}/access/v1/evaluations`,
    });
  });

  it('has the path of PUBLIC_URL at the end of its own, too', async () => {
    const app = express().use(createMetadataRouter('https://pdp.test/tenant/1'));
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const at = (path: string) =>
      fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/.well-known/authzen-configuration${path}`);

    for (const path of ['', '/tenant/1'])
      expect(await (await at(path)).json()).toMatchObject({
        policy_decision_point: 'https://pdp.test/tenant/1',
        access_evaluation_endpoint: 'https://pdp.test/tenant/1/access/v1/evaluation',
      });
    expect((await at('/tenant/2')).status).toBe(404);
    server.close();
  });

  it('is only to be read', async () => {
    const response = await fetch(`${graph.url}/.well-known/authzen-configuration`, { method: 'POST' });

    expect([response.status, response.headers.get('Allow')]).toEqual([405, 'GET, HEAD']);
  });
});

it('has no search', async () => {
  for (const name of ['subject', 'resource', 'action'])
    expect((await fetch(`${graph.url}/access/v1/search/${name}`, { method: 'POST' })).status).toBe(404);
});
