// Each example of `admin --help` and `audit --help` is one that its program accepts.
import type { Command } from 'commander';
import { examples as adminExamples, createAdminProgram } from '../../src/commands/admin/runAdmin.ts';
import { examples as auditExamples, createAuditProgram } from '../../src/commands/audit/runAudit.ts';

const reached = new Error('The command has begun.');
const adminProgram = () =>
  createAdminProgram(() => {
    throw reached;
  });
const auditProgram = () =>
  createAuditProgram(async () => {
    throw reached;
  });

/** As a shell does, without what it redirects. */
const wordsOf = (example: string) =>
  Array.from(example.replace(/ < .*$/, '').matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, plain]) => quoted ?? plain ?? '');

const run = (program: Command, words: string[]) => {
  const isQuiet = { writeOut: () => undefined, writeErr: () => undefined };
  for (const command of [program, ...program.commands]) command.configureOutput(isQuiet);
  return program.parseAsync(words, { from: 'user' });
};

describe.each([
  ['admin', adminProgram, adminExamples],
  ['audit', auditProgram, auditExamples],
] as const)('%s', (_name, createProgram, examples) => {
  it.each(Object.entries(examples))('%s: the example is accepted', async (name, example) => {
    expect(example.split(' ')[0]).toBe(name);
    await expect(run(createProgram(), wordsOf(example))).rejects.toBe(reached);
  });

  it('has no example of a command that is not there', () => {
    const names = createProgram().commands.map((command) => command.name());

    expect(Object.keys(examples).toSorted()).toEqual(names.toSorted());
  });

  it.each(Object.entries(examples))('%s: the example with an unknown option is refused', async (_name, example) => {
    await expect(run(createProgram(), [...wordsOf(example), '--frobnicate'])).rejects.toThrow('unknown option');
  });
});

test.each([
  ['admin', adminProgram, 'aply', 'apply'],
  ['audit', auditProgram, 'explian', 'explain'],
] as const)('%s names the command that is nearest to a wrong one', async (_name, createProgram, wrong, right) => {
  await expect(run(createProgram(), [wrong])).rejects.toThrow(`unknown command '${wrong}'\n(Did you mean ${right}?)`);
  await expect(run(createProgram(), ['zzzzzzzzzzzzz'])).rejects.toThrow(/unknown command 'zzzzzzzzzzzzz'$/);
});

test('--help after a command shows its example', async () => {
  let text = '';
  const program = adminProgram();
  for (const command of [program, ...program.commands])
    command.exitOverride().configureOutput({
      writeOut: (words) => {
        text += words;
      },
    });

  await expect(program.parseAsync(['rotate-secret', '--help'], { from: 'user' })).rejects.toMatchObject({
    exitCode: 0,
  });
  expect(text).toContain('Example:\n  npm run -s admin -- rotate-secret demo-backend\n');
});
