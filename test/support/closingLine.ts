/**
 * A reporter that shows the progress of a run from time to time. It ends the output with the ten slowest files, the number of assertions,
 * and one plain line for programs: `N passed, N failed`.
 */
export default class ClosingLine {
  readonly #begunAt = Date.now();

  onTestFileResult(_file: unknown, _result: unknown, { testResults, numTotalTestSuites }: Totals): void {
    if (testResults.length % 20 !== 0) return;
    const seconds = Math.round((Date.now() - this.#begunAt) / 1000);
    console.log(`${testResults.length} of ${numTotalTestSuites} files after ${seconds} s`);
  }

  onRunComplete(_contexts: unknown, result: Totals): void {
    // A file that did not run at all counts as a failure, or nothing would show it.
    const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
    const lines = [
      ...slowest(result.testResults).map(
        ({ testFilePath, perfStats }) =>
          `${(perfStats.runtime / 1000).toFixed(1).padStart(6)} s  ${testFilePath.slice(`${process.cwd()}/`.length)}`,
      ),
      `${assertionsIn(result.testResults)} assertions in ${result.testResults.length} files`,
      `${result.numPassedTests} passed, ${failed} failed`,
    ];
    // Jest's own summary comes after every reporter.
    process.once('exit', () => console.log(lines.join('\n')));
    setTimeout(failInsteadOfHanging, 15_000).unref();
  }
}

type FileResult = {
  testFilePath: string;
  /** In milliseconds. */
  perfStats: { runtime: number };
  testResults: { numPassingAsserts?: number }[];
};

type Totals = {
  numPassedTests: number;
  numFailedTests: number;
  numRuntimeErrorTestSuites: number;
  numTotalTestSuites: number;
  testResults: FileResult[];
};

const slowest = (files: readonly FileResult[]) =>
  files.toSorted((one, other) => other.perfStats.runtime - one.perfStats.runtime).slice(0, 10);

/** How often something was expected, and it was so. */
const assertionsIn = (files: readonly FileResult[]) =>
  files
    .flatMap(({ testResults }) => testResults)
    .reduce((sum, { numPassingAsserts = 0 }) => sum + numPassingAsserts, 0);

function failInsteadOfHanging(): void {
  console.error('The tests are over but have left something running.');
  process.exit(1);
}
