// Waiting pieces of work: their bounds in number and bytes, their deadlines and turns.
import type { Permit } from '../src/index.ts';
import { createPieces, fail } from './createPieces.ts';

describe('waiting pieces', () => {
  it('are limited in number, and a flow below its share displaces the newest of the flow that has most', () => {
    const { queue, refused, submit } = createPieces({ slots: 1, maxWaiting: 4 });
    for (const name of ['a 1', 'a 2', 'a 3', 'a 4', 'a 5', 'a 6']) submit(name);
    expect(refused).toEqual(['a 6: full']);

    for (const name of ['b 1', 'b 2', 'b 3']) submit(name);

    expect(refused.slice(1)).toEqual(['a 5: full', 'a 4: full', 'b 3: full']);
    expect(queue.waiting).toBe(4);
    expect(queue.isFull(['a'])).toBe(true);
    expect(queue.isFull(['c'])).toBe(false);
  });

  it('are limited in bytes', () => {
    const { queue, refused, submit } = createPieces({ slots: 1, maxWaitingBytes: 100 });
    submit('a 1');
    for (const name of ['a 2', 'a 3']) submit(name, { bytes: 50 });
    submit('a 4', { bytes: 1 });
    submit('b 1', { bytes: 51 });
    expect(refused).toEqual(['a 4: full', 'b 1: full']);

    submit('b 2', { bytes: 50 });

    expect(refused.slice(2)).toEqual(['a 3: full']);
    expect(queue.waitingBytes).toBe(100);
    expect(queue.isFull(['b'], 1)).toBe(true);
    expect(queue.isFull(['b'])).toBe(false);
  });

  it('may fill the share of their flow, whatever else the tenant has', () => {
    const { queue, refused, submit } = createPieces({ slots: 1, maxWaiting: 4 });
    for (const name of ['t/a 1', 't/a 2', 't/a 3', 't/a 4', 't/a 5', 't/b 1']) submit(name);

    expect(refused).toEqual(['t/a 5: full']);
    expect(queue.isFull(['t', 'c'])).toBe(false);
  });

  it('are limited for each tenant', () => {
    const { queue, refused, submit } = createPieces({ slots: 1, maxWaiting: 9, maxWaitingPerTenant: 1 });

    for (const name of ['a 1', 'a 2', 'a 3', 'b 1']) submit(name);

    expect(refused).toEqual(['a 3: full']);
    expect(queue.isFull(['a'])).toBe(true);
  });

  it('may fill the share of their flow, where the tenant is limited, too', () => {
    const { queue, refused, submit } = createPieces({ slots: 1, maxWaiting: 9, maxWaitingPerTenant: 2 });

    for (const name of ['t/a 1', 't/a 2', 't/a 3', 't/b 1', 't/b 2', 'u 1']) submit(name);

    expect(refused).toEqual(['t/a 3: full', 't/b 2: full']);
    expect(queue.waiting).toBe(3);
  });

  it('are refused at their deadline', () => {
    const { clock, begun, refused, permits, submit } = createPieces({ slots: 1, waitMs: 20 });
    for (const name of ['a 1', 'a 2']) submit(name);
    submit('a 3', { waitMs: 10 });

    clock.step();
    expect([refused, clock.now()]).toEqual([['a 3: deadline'], 10]);
    clock.step();
    expect([refused, clock.now()]).toEqual([['a 3: deadline', 'a 2: deadline'], 20]);
    permits.get('a 1')?.release();
    expect(begun).toEqual(['a 1']);
  });

  it('are refused when their turn comes after their deadline, before the timer', () => {
    const { clock, begun, refused, permits, submit } = createPieces({ slots: 1, waitMs: 20 });
    for (const name of ['a 1', 'a 2', 'b 1']) submit(name, { waitMs: name === 'b 1' ? 100 : 20 });

    clock.compute(50);
    permits.get('a 1')?.release();

    expect(refused).toEqual([]);
    expect(begun).toEqual(['a 1', 'b 1']);
    permits.get('b 1')?.release();
    expect(refused).toEqual(['a 2: deadline']);
  });

  it('get their turn when the one before is refused', () => {
    const { begun, refused, permits, submit } = createPieces({ slots: 1, waitMs: 20 });
    for (const name of ['a 1', 'a 2']) submit(name);

    permits.get('a 2')?.release();
    permits.get('a 1')?.release();
    submit('a 3');

    expect(begun).toEqual(['a 1', 'a 3']);
    expect(refused).toEqual([]);
  });

  it('continue to wait in another flow after a move', () => {
    const { clock, begun, permits, submit, endAll } = createPieces({ slots: 1, waitMs: 20 });
    for (const name of ['a 1', 'a 2', 'a 3', 'b 1']) submit(name);

    permits.get('a 3')?.move(['b']);
    clock.compute(1);
    endAll();

    expect(begun).toEqual(['a 1', 'b 1', 'a 3', 'a 2']);
  });

  it('are limited, too, when a refused piece submits another', () => {
    const { queue, begun, refused, submit, endAll } = createPieces({ slots: 1, maxWaiting: 2 });
    for (const name of ['a 1', 'a 2']) submit(name);
    queue.submit({ path: ['a'], costMs: 1 }, { begin: fail, refuse: () => submit('b 1') });

    submit('b 2');

    expect(refused).toEqual(['b 2: full']);
    expect(queue.waiting).toBe(2);
    endAll();
    expect(begun).toEqual(['a 1', 'b 1', 'a 2']);
  });

  it('get their turn when a piece that begins submits them', () => {
    const { queue, begun, permits, submit } = createPieces({ slots: 2 });
    const begin = (permit: Permit) => {
      permits.set('a 1', permit);
      for (const name of ['a 2', 'b 1']) submit(name);
    };

    queue.submit({ path: ['a'], costMs: 1 }, { begin, refuse: fail });

    expect(begun).toEqual(['b 1']);
    permits.get('a 1')?.release();
    expect(begun).toEqual(['b 1', 'a 2']);
  });
});
