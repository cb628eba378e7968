import { createProgress, showMigrations } from '../../src/commands/progress.ts';
import { migrationProgress } from '../../src/database/migrations/runCommitted.ts';

/** A terminal whose lines can be read, and a clock that is set by hand. */
function open(isTTY: boolean) {
  let written = '';
  let time = 0;
  const terminal = {
    isTTY,
    write: (text: string | Uint8Array) => {
      written += text;
      return true;
    },
  };
  const progress = createProgress(terminal, () => time);
  return {
    ...progress,
    at(seconds: number, ...reported: Parameters<typeof progress.report>) {
      time = seconds * 1000;
      progress.report(...reported);
    },
    /** What a terminal shows in the line. */
    line: () => written.split('\r\x1b[K').at(-1),
    written: () => written,
  };
}

describe('the progress of a long command', () => {
  it('says on a terminal how much is done, and how long the rest takes', () => {
    const progress = open(true);

    progress.at(0, 1, 100_000, 'users synchronized');
    progress.at(10, 20_000, 100_000, 'users synchronized');
    expect(progress.line()).toBe('20,000 of 100,000 users synchronized, about 40 s left');

    progress.at(50, 100_000, 100_000, 'users synchronized');
    expect(progress.line()).toBe('100,000 of 100,000 users synchronized');
  });

  it('counts the time of each step by itself', () => {
    const progress = open(true);

    progress.at(0, 1, 2, 'units synchronized');
    progress.at(1000, 10, 1000, 'passwords set');
    progress.at(1010, 20, 1000, 'passwords set');

    expect(progress.line()).toBe('20 of 1,000 passwords set, about 8 min left');
  });

  it('is drawn at most five times a second, and its end always', () => {
    const progress = open(true);

    progress.at(1, 1, 4, 'users synchronized');
    progress.at(1.1, 2, 4, 'users synchronized');
    expect(progress.line()).toBe('1 of 4 users synchronized');
    progress.at(1.11, 4, 4, 'users synchronized');
    expect(progress.line()).toBe('4 of 4 users synchronized');
  });

  it('leaves no line behind', () => {
    const progress = open(true);

    progress.at(0, 1, 2, 'users synchronized');
    progress.end();

    expect(progress.line()).toBe('');
  });

  it('shows how many migrations have run, in whichever command, and goes with the last', () => {
    const progress = open(true);
    showMigrations(progress);

    migrationProgress.publish({ done: 1, total: 40 });
    expect(progress.line()).toBe('1 of 40 migrations applied');
    migrationProgress.publish({ done: 40, total: 40 });
    expect(progress.line()).toBe('');
    expect(progress.written()).toContain('40 of 40 migrations applied');
  });

  it('writes nothing where no terminal is', () => {
    const progress = open(false);

    progress.at(0, 1, 2, 'users synchronized');
    progress.end();

    expect(progress.written()).toBe('');
  });
});
