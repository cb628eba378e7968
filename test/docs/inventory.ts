import { type Block, blocksOf, notRun, pagesOf } from './pages.ts';

/** The pages, or the headings of pages, whose blocks another test runs. */
export const followedBy: Record<string, string> = {
  'CONTRIBUTING.md': 'test/development/development.test.ts',
  'README.md#Start': 'test/process/embedded.test.ts',
  'docs/getting-started.md#What you need': 'test/process/embedded.test.ts',
  'docs/changing-the-schema.md': 'test/development/guide.test.ts',
  'docs/changing-the-schema.md#Changing the schema': 'test/development/development.test.ts',
  'docs/extensions.md': 'test/development/guide.test.ts',
  'docs/changing-the-schema.md#8. Commit': 'test/development/development.test.ts',
  "docs/operating.md#The owner's password": 'test/system/backup.system.ts',
  'docs/operating.md#Behind a proxy': 'test/system/proxies.system.ts',
  'docs/operating.md#Time zones': 'test/database/timeZones.test.ts',
  'docs/operating.md#Roles': 'test/system/owners.system.ts',
  'docs/database.md': 'test/database/objects.test.ts',
  'docs/outgrowing-one-machine.md#From the embedded database': 'test/system/ownDatabase.system.ts',
  'docs/for-a-client.md#Types from the schema': 'test/graphql/clients/codegen.test.ts',
  'docs/personnel-system.md': 'test/docs/personnelSystem.search.ts',
  'docs/webhooks.md': 'test/webhooks/page.test.ts',
  'packages/fair-queue/README.md': 'packages/fair-queue/test/readme.test.ts',
  'packages/grafast-compile/README.md': 'test/packages/compileStock.test.ts',
  'docs/upgrading.md': 'test/system/backup.system.ts',
  'docs/upgrading.md#Version 0.x': 'test/system/carryOver.system.ts',
  'docs/upgrading.md#What is no longer allowed': 'test/system/carryOver.system.ts',
  'docs/upgrading.md#A new major version': 'test/system/upgrade.system.ts',
  'docs/upgrading.md#The embedded database': 'test/system/upgrade.system.ts',
  'packages/rls-prover/README.md': 'packages/rls-prover/test/readme.test.ts',
};

/** Blocks that no test runs. Why is in the first line of each, for readers, too. */
export const notRunBlocks = [
  'deploy/README.md#One machine',
  'deploy/README.md#Kubernetes',
  'docs/auditing-access.md#Auditing access',
  'docs/auditing-access.md#3. Who may change what in this table?',
  'docs/auditing-access.md#Record a table of your own',
  'docs/getting-started.md#A database of your own',
  'docs/operating.md#What other users of the database lose',
  'docs/operating.md#A login role for the OAuth server',
  'docs/outgrowing-one-machine.md#From the embedded database',
  'docs/outgrowing-one-machine.md#Move an organization',
];

export const pages = await pagesOf();
export const blocks = (await Promise.all(pages.map(blocksOf))).flat();

export const testOf = ({ page, heading }: Block) => followedBy[`${page}#${heading}`] ?? followedBy[page];

/** Whether a block is pasted into a shell by these tests. */
export const isRun = (block: Block) => /^(sh|js)$/.test(block.language) && !notRun(block) && !testOf(block);

/** The output that a page shows below a block. */
export function outputBelow(block: Block): Block | undefined {
  const next = blocks[blocks.indexOf(block) + 1];
  return next?.page === block.page && /^(json|text)$/.test(next.language) ? next : undefined;
}

/** Pages that are run; the slow ones start processes of the service, and are a test of the whole system. */
export function pagesToRun(speed: 'quick' | 'slow'): string[] {
  const runBlocks = (page: string) => blocks.filter((block) => block.page === page && isRun(block));
  const isSlow = (page: string) => runBlocks(page).some(({ text }) => /\bnpm (?!run -s token)/.test(text));
  return pages.filter((page) => runBlocks(page).length > 0 && isSlow(page) === (speed === 'slow'));
}
