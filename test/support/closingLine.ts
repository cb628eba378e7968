/** Ends the output with one plain line, `N passed, N failed`, for whatever reads only that. */
export default class ClosingLine {
  onRunComplete(_contexts: unknown, result: Totals): void {
    // A file that did not run at all counts as a failure, or nothing would show it.
    const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
    // Jest's own summary comes after every reporter.
    process.once('exit', () => console.log(`${result.numPassedTests} passed, ${failed} failed`));
  }
}

type Totals = { numPassedTests: number; numFailedTests: number; numRuntimeErrorTestSuites: number };
