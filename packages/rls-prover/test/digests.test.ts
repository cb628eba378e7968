import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashOfFiles } from '../src/digests.ts';

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
