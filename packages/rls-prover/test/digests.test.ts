import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Catalogue } from '../src/catalogue.ts';
import { Digests, hashOfFiles } from '../src/digests.ts';

// That a judgement is kept only while nothing changes, the prover included.

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'digests-'));
  mkdirSync(join(folder, 'command'));
  writeFileSync(join(folder, 'prove.ts'), 'export const a = 1;');
  writeFileSync(join(folder, 'command', 'main.js'), 'export const b = 1;');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('the same prover has the same hash', () => {
  expect(hashOfFiles(folder)).toBe(hashOfFiles(folder));
});

test.each([
  ['a changed file', () => writeFileSync(join(folder, 'command', 'main.js'), 'export const b = 2;')],
  ['a new file', () => writeFileSync(join(folder, 'rows.ts'), '')],
  ['a file of another name', () => renameSync(join(folder, 'prove.ts'), join(folder, 'proof.ts'))],
])('%s is another prover', (_what, change) => {
  const before = hashOfFiles(folder);

  change();

  expect(hashOfFiles(folder)).not.toBe(before);
});

/** A table and a function of one name. */
const catalogueOf = (using: string, body: string) =>
  ({
    relations: new Map([['app.notes', { name: 'app.notes', policies: [{ using }] }]]),
    functions: new Map([['app.notes', [{ name: 'app.notes', body }]]]),
    ...{ triggers: [], composites: new Set(), checkedTypes: new Set(), families: new Map() },
  }) as unknown as Catalogue;
const digestOf = (using: string, body: string) =>
  new Digests(catalogueOf(using, body), [], null).of({
    ...{ invariant: 'tenant', relation: 'app.notes', command: 'select', role: 'member' },
  });

test('a judgement depends on a table and on a function that has its name', () => {
  expect(digestOf('is_mine', 'select 1')).toBe(digestOf('is_mine', 'select 1'));
  expect(digestOf('true', 'select 1')).not.toBe(digestOf('is_mine', 'select 1'));
  expect(digestOf('is_mine', 'select 2')).not.toBe(digestOf('is_mine', 'select 1'));
});
