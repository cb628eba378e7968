import type { Permit } from '../../src/scheduling/admission.ts';
import {
  callerPath,
  createWaitBudget,
  identifyCaller,
  WaitBudgetSpentError,
  withCaller,
  withinWaitBudget,
  withoutPermit,
} from '../../src/scheduling/caller.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';

let clock: TestClock;
let calls: string[];
beforeEach(() => {
  clock = createTestClock();
  calls = [];
});

const asCaller = <T>(waitBudgetMs: number, work: () => T): T => {
  const permit: Permit = {
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
    resumeQueued: async () => undefined,
    end: () => calls.push('end'),
    moveTo: ([tenant]) => calls.push(`move to ${tenant}`),
  };
  const onIdentified = (organizationId: string) => calls.push(`identified ${organizationId}`);
  return withCaller(
    { path: ['strangers', '192.0.2.1'], permit, waitBudget: createWaitBudget(waitBudgetMs), onIdentified },
    work,
  );
};
const wait = (ms: number) =>
  withinWaitBudget(new Promise<string>((resolve) => clock.setTimeout(() => resolve('had'), ms)), clock);

describe('the wait budget', () => {
  it('is shared by all waits of a request', () =>
    asCaller(2000, async () => {
      const first = wait(1300);
      await clock.advance(1300);
      expect(await first).toBe('had');
      // No wait.
      await clock.advance(900);

      const since = clock.now();
      const refusedAfterMs = expect(wait(5000))
        .rejects.toThrow(WaitBudgetSpentError)
        .then(() => clock.now() - since);
      await clock.advance(1000);
      expect(await refusedAfterMs).toBe(700);
    }));

  it('is spent once by waits at the same time, from the beginning of the first', () =>
    asCaller(2000, async () => {
      const both = [wait(1200), wait(1200)];
      await clock.advance(1200);
      expect(await Promise.all(both)).toEqual(['had', 'had']);

      const since = clock.now();
      const first = wait(700);
      await clock.advance(500);
      const refusedAfterMs = expect(wait(5000))
        .rejects.toThrow(WaitBudgetSpentError)
        .then(() => clock.now() - since);
      await clock.advance(1000);
      expect(await first).toBe('had');
      expect(await refusedAfterMs).toBe(800);
    }));

  it('that is spent still returns what is ready at once', () =>
    asCaller(-1, async () => {
      expect(await withinWaitBudget(Promise.resolve('had'), clock)).toBe('had');
      const refused = expect(wait(500)).rejects.toThrow(WaitBudgetSpentError);
      await clock.advance(1);
      await refused;
    }));

  it('belongs to one request, and work outside a request waits without one', async () => {
    const settled = Promise.allSettled([asCaller(50, () => wait(500)), asCaller(2000, () => wait(500)), wait(500)]);

    await clock.advance(500);

    expect(await settled).toEqual([
      { status: 'rejected', reason: expect.any(WaitBudgetSpentError) },
      { status: 'fulfilled', value: 'had' },
      { status: 'fulfilled', value: 'had' },
    ]);
  });
});

test('a request is charged to its organization from when that is known, and then once', () =>
  asCaller(0, async () => {
    expect(callerPath()).toEqual(['strangers', '192.0.2.1']);

    identifyCaller('organization');
    identifyCaller('organization');

    expect(callerPath()).toEqual(['organization']);
    expect(calls).toEqual(['move to organization', 'identified organization']);
  }));

test('the permit is released while work is done elsewhere, also when it fails', () =>
  asCaller(0, async () => {
    await withoutPermit(async () => calls.push('elsewhere'));
    await expect(withoutPermit(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');

    expect(calls).toEqual(['pause', 'elsewhere', 'resume', 'pause', 'resume']);
  }));

test('work outside a request has a flow of its own', async () => {
  identifyCaller('organization');

  expect(callerPath()).toEqual(['service']);
  expect(await withoutPermit(async () => 'done')).toBe('done');
});
