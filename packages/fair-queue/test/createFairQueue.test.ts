import { setImmediate as soon } from 'node:timers/promises';
import { RefusedError } from '../src/index.ts';
import { createPieces } from './createPieces.ts';

describe('promises', () => {
  it('resolve to a permit when it is their turn', async () => {
    const { queue } = createPieces({ slots: 1 });
    const first = await queue.acquire({ path: ['a'], costMs: 1 });
    const second = queue.acquire({ path: ['a'], costMs: 1 });

    first.release();
    (await second).release();

    expect(queue.held).toBe(0);
  });

  it('give the permit back after work that fails', async () => {
    const { queue } = createPieces({ slots: 1 });
    const failing = queue.run({ path: ['a'], costMs: 1 }, () => Promise.reject(new Error('broken')));
    const next = queue.run({ path: ['a'], costMs: 1 }, async () => 'done');

    await expect(failing).rejects.toThrow('broken');
    expect(await next).toBe('done');
    expect(queue.held).toBe(0);
  });

  it('reject when the signal is aborted, with its reason', async () => {
    const { queue } = createPieces({ slots: 1 });
    const held = await queue.acquire({ path: ['a'], costMs: 1 });
    const leaving = new AbortController();
    const left = queue.acquire({ path: ['a'], costMs: 1, signal: leaving.signal });

    leaving.abort(new Error('gone'));

    await expect(left).rejects.toMatchObject({ name: 'RefusedError', reason: 'aborted', cause: new Error('gone') });
    const late = queue.acquire({ path: ['a'], costMs: 1, signal: leaving.signal });
    await expect(late).rejects.toThrow(RefusedError);
    held.release();
    expect(queue.held + queue.waiting).toBe(0);
  });

  it('no longer listen to the signal of a piece that has begun', async () => {
    const { queue } = createPieces({ slots: 1 });
    const leaving = new AbortController();
    const held = await queue.acquire({ path: ['a'], costMs: 1 });
    const next = queue.acquire({ path: ['a'], costMs: 1, signal: leaving.signal });
    held.release();
    const permit = await next;

    leaving.abort();
    await soon();

    expect(queue.held).toBe(1);
    permit.release();
    expect(queue.held).toBe(0);
  });
});

describe('a mistake', () => {
  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('such as a cost of %s throws', (costMs) => {
    const { queue, outcomeOf } = createPieces({ slots: 1 });

    expect(() => queue.submit({ path: ['a'], costMs }, outcomeOf('a'))).toThrow(RangeError);
  });

  it('such as bytes below 0 throws', () => {
    expect(() => createPieces({ slots: 1 }).submit('a', { bytes: -1 })).toThrow(RangeError);
  });

  it.each([
    ['a', 'a/b'],
    ['a/b', 'a'],
    ['a/b/c', 'a/b'],
  ])('such as the paths %s and %s of two flows throws, and changes nothing', (one, other) => {
    const { begun, permits, submit } = createPieces({ slots: 1 });
    submit(one);

    expect(() => submit(other)).toThrow(TypeError);

    permits.get(one)?.release();
    submit(one);
    expect(begun).toEqual([one, one]);
  });

  it('such as an empty path throws', () => {
    const { queue, outcomeOf } = createPieces({ slots: 1 });

    expect(() => queue.submit({ path: [], costMs: 1 }, outcomeOf(''))).toThrow(TypeError);
  });

  it('such as a meter that goes back or is no number harms no other flow', () => {
    const { queue, submit, outcomeOf } = createPieces({ slots: 1 });
    const meters = [Number.NaN, 5, -100, Number.NaN];
    queue.submit({ path: ['a'], costMs: 1, usedMs: () => meters.shift() ?? 0 }, outcomeOf('a'));
    for (const name of ['b 1', 'a 2', 'b 2']) submit(name);

    queue.submit({ path: ['c'], costMs: 1 }, outcomeOf('c'));

    expect(queue.waiting).toBe(4);
  });
});
