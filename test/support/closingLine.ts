/** Ends the output with one plain line, `N passed, N failed`, for whatever reads only that. */
export default class ClosingLine {
  onRunComplete(_contexts: unknown, result: Totals): void {
    // A file that did not run at all counts as a failure, or nothing would show it.
    const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
    // Jest's own summary comes after every reporter.
    process.once('exit', () => console.log(`${result.numPassedTests} passed, ${failed} failed`));
    setTimeout(failInsteadOfHanging, 15_000).unref();
  }
}

type Totals = { numPassedTests: number; numFailedTests: number; numRuntimeErrorTestSuites: number };

function failInsteadOfHanging(): void {
  console.error('The tests are over but have left something running.');
  process.exit(1);
}
