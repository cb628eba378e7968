// The order in which pieces of work begin.
import { createPieces, fail } from './createPieces.ts';

describe('the order', () => {
  it('is first in, first out within a flow', () => {
    const { queue, begun, submit, endAll } = createPieces({ slots: 1 });
    for (const name of ['a 1', 'a 2', 'a 3']) submit(name);

    endAll();

    expect(begun).toEqual(['a 1', 'a 2', 'a 3']);
    expect(queue.held + queue.waiting).toBe(0);
  });

  it('counts the permits of each tenant', () => {
    const { queue, submit, endAll } = createPieces({ slots: 3 });
    for (const name of ['a/x 1', 'a/y 1', 'b 1', 'b 2']) submit(name);

    expect(['a', 'b', 'c'].map((tenant) => queue.heldBy(tenant))).toEqual([2, 1, 0]);

    endAll();

    expect(['a', 'b'].map((tenant) => queue.heldBy(tenant))).toEqual([0, 0]);
  });

  it('gives each tenant its share, however much one of them sends', () => {
    const { begun, submit, endAll } = createPieces({ slots: 1 });
    for (const name of ['a 1', 'a 2', 'a 3', 'a 4', 'b 1', 'b 2', 'c 1']) submit(name);

    endAll();

    expect(begun).toEqual(['a 1', 'b 1', 'c 1', 'a 2', 'b 2', 'a 3', 'a 4']);
  });

  it('counts cost and not pieces', () => {
    const { begun, submit, endAll } = createPieces({ slots: 1 });
    for (const name of ['a 1', 'a 2']) submit(name, { costMs: 3 });
    for (const name of ['b 1', 'b 2', 'b 3', 'b 4']) submit(name);

    endAll((name) => (name.startsWith('a') ? 3 : 1));

    expect(begun).toEqual(['a 1', 'b 1', 'b 2', 'b 3', 'a 2', 'b 4']);
  });

  it('corrects an estimate by what a piece has really cost', () => {
    const { clock, begun, permits, submit } = createPieces({ slots: 1 });
    for (const name of ['a 1', 'a 2', 'b 1', 'b 2', 'b 3']) submit(name);

    clock.compute(2.5);
    permits.get('a 1')?.release();
    for (const name of ['b 1', 'b 2', 'b 3', 'a 2']) {
      expect(begun.at(-1)).toBe(name);
      clock.compute(1);
      permits.get(name)?.release();
    }
  });

  it('takes the cost from the meter of a piece', () => {
    const { clock, queue, begun, permits, submit, endAll } = createPieces({ slots: 1 });
    let usedMs = 100;
    queue.submit(
      { path: ['a'], costMs: 1, usedMs: () => usedMs },
      { begin: (permit) => permits.set('a 1', permit), refuse: fail },
    );
    for (const name of ['b 1', 'a 2', 'b 2', 'b 3']) submit(name);

    clock.compute(50);
    usedMs = 102.5;
    permits.get('a 1')?.release();
    endAll();

    expect(begun).toEqual(['b 1', 'b 2', 'b 3', 'a 2']);
  });

  it('charges a piece that takes long while it runs', () => {
    const { clock, begun, permits, submit } = createPieces({ slots: 2 });
    for (const name of ['a long', 'b 1', 'a 2', 'b 2', 'b 3']) submit(name);

    clock.compute(10);
    permits.get('b 1')?.release();

    // Without the time of the long one, both would have had as much.
    expect(begun).toEqual(['a long', 'b 1', 'a 2']);
    clock.compute(1);
    permits.get('a 2')?.release();
    expect(begun.at(-1)).toBe('b 2');
  });

  it('earns a flow nothing while it rests, and keeps its debt', () => {
    const { clock, begun, permits, submit } = createPieces({ slots: 1 });
    submit('busy 1');
    for (let piece = 2; piece < 6; piece++) {
      submit(`busy ${piece}`);
      clock.compute(100);
      permits.get(`busy ${piece - 1}`)?.release();
    }

    for (const name of ['late 1', 'late 2', 'late 3']) submit(name, { costMs: 100 });
    submit('busy 6', { costMs: 100 });
    clock.compute(100);
    permits.get('busy 5')?.release();
    clock.compute(100);
    permits.get('late 1')?.release();

    expect(begun.slice(-3)).toEqual(['busy 5', 'late 1', 'late 2']);
    clock.compute(100);
    permits.get('late 2')?.release();
    expect(begun.at(-1)).toBe('busy 6');
  });

  it('lets the flows of a branch share what the branch gets', () => {
    const { begun, submit, endAll } = createPieces({ slots: 1 });
    for (const name of ['s/a 1', 's/a 2', 's/a 3', 's/b 1', 's/b 2', 't 1', 't 2', 't 3']) submit(name);

    endAll();

    expect(begun).toEqual(['s/a 1', 't 1', 's/b 1', 't 2', 's/a 2', 't 3', 's/b 2', 's/a 3']);
  });

  it('is that of arrival among flows that differ by less than the burst', () => {
    const { begun, submit, endAll } = createPieces({ slots: 1, burstMs: 2 });
    for (const name of ['a 1', 'a 2', 'b 1', 'a 3', 'a 4', 'a 5', 'b 2']) submit(name);

    endAll();

    expect(begun).toEqual(['a 1', 'a 2', 'b 1', 'a 3', 'a 4', 'b 2', 'a 5']);
  });
});
