import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { takeLeftOpen } from './openThings.ts';

/** The parameters of a test runner of Jest: both configurations, and the functions to load and report. */
type RunTestFile = (
  globalConfig: object,
  config: object,
  environment: object,
  runtime: object,
  testPath: string,
  sendMessageToJest?: unknown,
) => Promise<{ numFailingTests: number }>;

/**
 * Jest's own test runner, jest-circus, over Node's module loader instead of Jest's registry of modules in a vm context.
 *
 * A worker then parses the service, PostGraphile and the test support once, and not for each file. The state of a module lives as long as
 * the worker. The price: the files of one worker share its globals.
 *
 * Jest documents the extension point: https://jestjs.io/docs/configuration#testrunner-string
 */
const runTestFile: RunTestFile = async (globalConfig, config, environment, runtime, testPath, sendMessageToJest) => {
  const native = Object.assign(Object.create(runtime), {
    requireInternalModule: requireAnew,
    unstable_shouldLoadAsEsm: () => true,
    // The watch mode runs a file again in the same process when there is one worker.
    unstable_importModule: (path: string) => import(`${pathToFileURL(path)}?run=${++runs}`),
  });
  const here = Object.assign(Object.create(environment), { global: globalThis });
  // No file is transformed, so a stack trace needs none of the source maps that Jest looks for, which takes as long as it takes to ask.
  Reflect.deleteProperty(Error, 'prepareStackTrace');
  // Each file begins with no test and no handler of the file before.
  Reflect.deleteProperty(globalThis, Symbol.for('EVENT_HANDLERS'));
  const circus: { default: RunTestFile } = require('jest-circus/runner');

  const result = await circus.default(globalConfig, config, here, native, testPath, sendMessageToJest);

  const left = takeLeftOpen();
  // A test that fails may leave something open, and then the failure is what matters.
  if (left.length > 0 && result.numFailingTests === 0) throw new Error(`This file has left open: ${left.join(', ')}`);
  return result;
};

export default runTestFile;

let runs = 0;

const require = createRequire(import.meta.url);

function requireAnew(path: string): unknown {
  delete require.cache[path];
  return require(path);
}

// Each worker has a PostgreSQL of its own; Jest numbers the workers from 1.
const servers: readonly { ownerUrl: string; authUrl: string }[] = JSON.parse(process.env.TEST_SERVERS ?? '[]');
const server = servers[Number(process.env.JEST_WORKER_ID) - 1];
if (server) Object.assign(process.env, { TEST_OWNER_URL: server.ownerUrl, TEST_AUTH_URL: server.authUrl });

// The message with which Jest ends a worker (jest-worker's CHILD_MESSAGE_END). The worker ends at once: Jest gives it 500 ms, in which a
// busy machine may not close the shared service, and PostgreSQL is removed as a whole.
if (process.send) process.on('message', ([type]: [number]) => type === 2 && process.exit());
