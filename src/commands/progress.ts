import { type MigrationProgress, migrationProgress } from '../database/migrations/runCommitted.ts';
import { eraseLine } from '../log.ts';
import type { Report } from '../provisioning/rows.ts';

type Terminal = Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;

/**
 * A progress line: how much is done, and about how long the rest takes at the speed so far.
 * It is written over itself on a terminal. A file, a pipe or a log gets nothing.
 *
 * @param now milliseconds that only grow
 */
export function createProgress(terminal: Terminal = process.stderr, now: () => number = () => performance.now()) {
  let subject = '';
  let startedAt = 0;
  let shownAt = Number.NEGATIVE_INFINITY;
  const report: Report = (done, total, what) => {
    if (!terminal.isTTY) return;
    if (what !== subject) [subject, startedAt] = [what, now()];
    if (now() - shownAt < redrawMs && done < total) return;
    shownAt = now();
    const leftSeconds = Math.round(((shownAt - startedAt) / done) * (total - done) * 0.001);
    const left = leftSeconds > 0 ? `, about ${inWords(leftSeconds)} left` : '';
    terminal.write(`${eraseLine}${inDigits(done)} of ${inDigits(total)} ${what}${left}`);
  };
  return {
    report,
    /** Takes the line away, for what is printed next. */
    end: () => {
      if (terminal.isTTY) terminal.write(eraseLine);
    },
  };
}

/** Shows how many migrations have run, in whichever command they run. */
export function showMigrations({ report, end } = createProgress()): void {
  migrationProgress.subscribe((message) => {
    const { done, total } = message as MigrationProgress;
    report(done, total, 'migrations applied');
    if (done === total) end();
  });
}

/** Often enough to be seen moving, and seldom enough to cost nothing. */
const redrawMs = 200;

const inDigits = (count: number) => count.toLocaleString('en');

const inWords = (seconds: number) => (seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`);
