import { availableParallelism } from 'node:os';

/** @type {import('jest').Config} */
export default {
  rootDir: '..',
  roots: ['<rootDir>/test', '<rootDir>/packages'],
  testMatch: ['**/*.test.ts', '**/*.search.ts'],
  globalSetup: '<rootDir>/test/support/globalSetup.ts',
  globalTeardown: '<rootDir>/test/support/globalTeardown.ts',
  reporters: ['default', '<rootDir>/test/support/closingLine.ts'],
  testRunner: '<rootDir>/test/support/testRunner.ts',
  testSequencer: '<rootDir>/test/support/sequencer.ts',
  testTimeout: 120_000,
  transform: {},
  // A worker ends within it, but a busy machine may need more than the half second that Jest allows.
  workerGracefulExitTimeout: 15_000,
  // With as many workers as processors, these are idle for 14 to 20 % of the time: a worker waits for a lock, a deadline, another process.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
};
