import fc from 'fast-check';

/**
 * `node bench/compilation.ts [operations] [seed]`: draws 20,000 queries from the schema and compares their answers compiled and
 * not, byte by byte. Exits with 1 at the first that differs, and prints the smallest of its kind.
 */
// Read by PostGraphile when it is imported.
process.env.NODE_ENV = 'production';
process.env.GRAPHILE_ENV = 'production';
const { startWithOneLogin } = await import('../test/support/startWithOneLogin.ts');
const { createLog } = await import('../src/log.ts');
const { startComparison } = await import('../test/graphql/compilation/startComparison.ts');
const { createTestDataDirectory, removeTestDataDirectory } = await import('../test/support/dataDirectory.ts');

const operations = Number(process.argv[2] ?? 20_000);
const seed = Number(process.argv[3] ?? Math.floor(Math.random() * 2 ** 31));

const dataDir = await createTestDataDirectory();
const postgres = await startWithOneLogin(dataDir, createLog('error'));
const comparison = await startComparison(postgres);
try {
  console.log(`${operations} queries are drawn; \`npm run bench compilation ${operations} ${seed}\` repeats it`);
  let compared = 0;
  const result = await fc.check(
    fc.asyncProperty(comparison.drawn, async (asked) => {
      const { compiled, plain } = await comparison.answers(asked);
      if (++compared % 1000 === 0) console.log(compared, comparison.seen);
      if (compiled !== plain) throw new Error(`compiled: ${compiled}\nplain: ${plain}`);
    }),
    { numRuns: operations, seed },
  );
  console.log(result.failed ? fc.defaultReportMessage(result) : 'all the same', comparison.seen);
  process.exitCode = result.failed ? 1 : 0;
} finally {
  await comparison.stop();
  await postgres.stop();
  await removeTestDataDirectory(dataDir);
}
