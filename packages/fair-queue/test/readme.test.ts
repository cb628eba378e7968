import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { plantedFaults } from './plantedFaults.ts';

const folder = new URL('..', import.meta.url);
const read = (path: string) => readFile(new URL(path, folder), 'utf8');
const readme = await read('README.md');
const block = (language: string) => new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'm').exec(readme)?.[1] ?? '';

test("the README's example answers what the README says", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', block('js')], {
    cwd: folder,
    env: { PATH: process.env.PATH },
  });

  expect(stdout).toBe(block('text'));
});

test('the README names each limit, property and method', async () => {
  const names = [...(await read('src/interface.ts')).matchAll(/^ {2}(?:readonly )?(\w+)\??[(:<]/gm)].map(
    ([, name]) => name,
  );

  expect(names.length).toBeGreaterThan(20);
  const inherited = ['now', 'setTimeout', 'begin', 'refuse', 'waiting', 'waitingBytes', 'held', 'constructor'];
  expect(names.filter((name) => name && !inherited.includes(name) && !readme.includes(name))).toEqual([]);
});

test('the README counts the planted faults', () => {
  const alone = plantedFaults.filter(({ breaksFormula }) => breaksFormula).length;

  expect([plantedFaults.length, alone]).toEqual([40, 6]);
  expect(readme).toContain(`[${plantedFaults.length} planted faults]`);
});
