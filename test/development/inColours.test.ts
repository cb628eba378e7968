import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { inColours } from '../../src/commands/development/inColours.ts';

const report = `Migrated and reloaded in 382 ms; the schema has changed:
  + Field 'label' was added to object type 'Unit'
  - Field 'name' was removed from object type 'Unit'
migrations/current.sql:4:1: relation "units" already exists (SQLSTATE 42P07)
     4 | create table app_public.units (id int); -- + ^
       | ^^^^^^
  Help: Choose another name.
The schema stays as it was.`;

const terminal = Object.assign(new Writable(), { isTTY: true, getColorDepth: () => 8, hasColors: () => true });

// Whether the shell that runs the tests has set NO_COLOR or not.
const { NO_COLOR: given } = process.env;
beforeEach(() => {
  delete process.env.NO_COLOR;
});
afterAll(() => {
  if (given !== undefined) process.env.NO_COLOR = given;
});

test('a terminal gets the place, the carets, the help and the changes in colour, and the same text', () => {
  const coloured = inColours(report, terminal);

  expect(coloured.split('\n').map((line) => line.includes('\x1b['))).toEqual([
    false,
    true,
    true,
    true,
    false,
    true,
    true,
    false,
  ]);
  expect(coloured).toContain('\x1b[31m^^^^^^\x1b[39m');
  expect(stripVTControlCharacters(coloured)).toBe(report);
});

test('a file gets the text alone', () => {
  expect(inColours(report, new Writable())).toBe(report);
});
