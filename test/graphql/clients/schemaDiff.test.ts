import { readFile } from 'node:fs/promises';
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema } from 'graphql';
import { shareService } from '../../support/sharedService.ts';
import type { GraphTest } from '../support.ts';
import { schemaFile } from './workshop.ts';

let graph: GraphTest;
let reviewed: string;
let served: string;
beforeAll(async () => {
  graph = await shareService();
  reviewed = await readFile(schemaFile, 'utf8');
  served = await (await fetch(`${graph.url}/graphql/schema.graphql`)).text();
});

/** The changes between two schemas that graphql-inspector reports to a client's author. */
async function changes(from: string, to: string): Promise<[level: CriticalityLevel, path: string | undefined][]> {
  const found = await diff(buildSchema(from), buildSchema(to));
  return found.map(({ criticality, path }) => [criticality.level, path]);
}

test('the service serves the schema that a person has reviewed', async () => {
  expect(await changes(reviewed, served)).toEqual([]);
});

test('a field that went away breaks clients, and one that came does not', async () => {
  const without = served.replace(/"""[^"]*"""\s+timeZone: String!/, '');

  expect(await changes(reviewed, without)).toEqual([[CriticalityLevel.Breaking, 'User.timeZone']]);
  const levels = (await changes(without, reviewed)).map(([level]) => level);
  expect(new Set(levels)).toEqual(new Set([CriticalityLevel.NonBreaking]));
});
