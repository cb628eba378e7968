// Permits: how tenants get them, and how a piece of work pauses, moves and releases its own.
import type { Permit } from '../src/index.ts';
import { createPieces, fail } from './createPieces.ts';

describe('permits', () => {
  it('go from the reserve to tenants that hold none', () => {
    const { begun, permits, submit } = createPieces({ slots: 2, reserve: 1 });
    for (const name of ['a 1', 'a 2', 'a 3', 'b 1', 'b 2', 'c 1']) submit(name);

    expect(begun).toEqual(['a 1', 'a 2', 'b 1']);
    permits.get('b 1')?.release();
    expect(begun.slice(3)).toEqual(['b 2']);
    permits.get('b 2')?.release();
    expect(begun.slice(4)).toEqual(['c 1']);
    permits.get('c 1')?.release();
    expect(begun.slice(5)).toEqual([]);
  });

  it('are limited for each tenant', () => {
    const { begun, permits, submit } = createPieces({ slots: Number.POSITIVE_INFINITY, slotsPerTenant: 2 });
    for (const name of ['a 1', 'a 2', 'a 3', 'b 1', 'b 2', 'b 3']) submit(name);

    expect(begun).toEqual(['a 1', 'a 2', 'b 1', 'b 2']);
    permits.get('b 1')?.release();
    expect(begun.slice(4)).toEqual(['b 3']);
  });

  it('are taken once and given back once', () => {
    const { queue, begun, permits, submit } = createPieces({ slots: 1 });
    for (const name of ['a 1', 'a 2', 'a 3']) submit(name);

    for (let times = 0; times < 3; times++) permits.get('a 1')?.release();

    expect(begun).toEqual(['a 1', 'a 2']);
    expect(queue.held).toBe(1);
  });

  it('are given back during a pause, and taken again at once', () => {
    const { queue, begun, permits, submit } = createPieces({ slots: 1 });
    for (const name of ['a 1', 'a 2', 'a 3']) submit(name);

    permits.get('a 1')?.pause();
    permits.get('a 1')?.pause();
    expect(begun).toEqual(['a 1', 'a 2']);
    permits.get('a 1')?.resume();
    expect(queue.held).toBe(1);
    permits.get('a 1')?.resume();
    permits.get('a 1')?.resume();
    expect(queue.held).toBe(2);

    permits.get('a 2')?.release();
    expect(begun).toEqual(['a 1', 'a 2']);
    permits.get('a 1')?.release();
    expect(begun).toEqual(['a 1', 'a 2', 'a 3']);
  });

  it('are taken again by turns after a pause', () => {
    const { queue, begun, permits, submit, outcomeOf } = createPieces({ slots: 1 });
    for (const name of ['a 1', 'a 2', 'a 3']) submit(name);
    permits.get('a 1')?.pause();
    permits.get('a 1')?.requeue(outcomeOf('a 1 again'));

    for (const name of ['a 2', 'a 3']) permits.get(name)?.release();

    expect(begun).toEqual(['a 1', 'a 2', 'a 3', 'a 1 again']);
    expect(queue.held).toBe(1);
  });

  it('stay paused after a turn if there is another pause', () => {
    const { queue, begun, permits, submit, outcomeOf } = createPieces({ slots: 1 });
    submit('a 1');
    for (let pause = 0; pause < 2; pause++) permits.get('a 1')?.pause();

    permits.get('a 1')?.requeue(outcomeOf('a 1 again'));
    expect(begun).toEqual(['a 1', 'a 1 again']);
    expect(queue.held).toBe(0);
    permits.get('a 1')?.resume();

    expect(queue.held).toBe(1);
  });

  it('are not taken by a piece that is paused while it waits', () => {
    const { queue, begun, permits, submit } = createPieces({ slots: 1 });
    for (const name of ['a 1', 'a 2', 'a 3']) submit(name);
    permits.get('a 2')?.pause();

    permits.get('a 1')?.release();

    expect(begun).toEqual(['a 1', 'a 2', 'a 3']);
    expect(queue.held).toBe(1);
    permits.get('a 2')?.resume();
    expect(queue.held).toBe(2);
  });

  it('are charged to the other flow after a move', () => {
    const { clock, begun, permits, submit } = createPieces({ slots: 1, slotsPerTenant: 1 });
    submit('a 1');
    permits.get('a 1')?.move(['b']);
    for (const name of ['b 2', 'a 2']) submit(name);

    clock.compute(10);
    permits.get('a 1')?.release();

    expect(begun).toEqual(['a 1', 'a 2']);
  });

  it('are free for others when a piece that begins ends at once', () => {
    const { queue, begun, permits, submit } = createPieces({ slots: 1 });
    submit('a 1');
    const names = Array.from({ length: 10_000 }, (_, number) => `a short ${number}`);
    for (const name of names) {
      const begin = (permit: Permit) => {
        begun.push(name);
        permit.release();
      };
      queue.submit({ path: ['a'], costMs: 1 }, { begin, refuse: fail });
    }

    permits.get('a 1')?.release();

    expect(begun.slice(1)).toEqual(names);
    expect(queue.held + queue.waiting).toBe(0);
  });
});
