import type { Catalogue, Routine, Trigger } from './catalogue.ts';
import { effectsOf, unsafeParts } from './effects.ts';
import type { Goal } from './interface.ts';
import type { Parser } from './parse.ts';
import { problemAt } from './places.ts';

/** A way to rows, policies or claims on which no policy decides. */
export type Beside = Goal & { why: string; about: Pick<Goal, 'relation' | 'role'> };

/**
 * Checks the functions on which the proofs rest.
 *
 * - Claims and roles are constants of the transaction: no function that a client may call, or that a trigger calls, sets one or runs text.
 *   Nor does a rule, a default, a check, an index, a condition of a trigger, a policy or a view.
 * - A trigger with its owner's rights does what the reason for accepting it says.
 * - A trigger with the caller's rights does nothing that the caller could not do, unless a foreign key's action fires it.
 */
export function readBeside(catalogue: Catalogue, parser: Parser): Beside[] {
  const routines = [...catalogue.functions.values()].flat();
  const called = routines.filter(
    (one) =>
      !one.isTrigger &&
      one.callers.length > 0 &&
      (one.source !== null || one.language !== 'internal' || unsafeParts(one, catalogue).length > 0),
  );
  return [
    ...catalogue.places.flatMap((place) => {
      const problem = problemAt(place, catalogue, parser);
      const named = { relation: place.name, role: 'everybody' };
      const why = `not understood: ${problem}`;
      return problem === null ? [] : [{ ...named, invariant: 'claims', command: 'run', why, about: named }];
    }),
    ...called.flatMap((routine) => {
      const { unknown, place } = effectsOf(routine, catalogue, parser);
      // A function that its callers may call directly has a judgement of its own.
      const isJudged =
        place !== routine.signature &&
        called.some(
          ({ signature, callers }) =>
            signature === place && routine.callers.every((caller) => callers.includes(caller)),
        );
      if (unknown === null || isJudged || routine.isDefiner) return [];
      const named = { relation: routine.signature, role: routine.holder };
      return [
        {
          ...{ ...named, invariant: 'claims', command: 'call', about: named },
          why: `not understood: ${unknown}`,
        },
      ];
    }),
    ...routines
      .filter(
        ({ isDefiner, signature }) =>
          isDefiner && catalogue.triggers.some((trigger) => trigger.signature === signature),
      )
      .map(({ signature, holder }) => ({
        ...{ invariant: 'definer', relation: signature, command: 'trigger', role: 'everybody' },
        ...{ why: 'runs with the rights of its owner', about: { relation: signature, role: holder || 'nobody' } },
      })),
    ...catalogue.triggers.flatMap((trigger) => {
      const routine = routines.find(({ signature }) => signature === trigger.signature);
      return routine && !routine.isDefiner ? besideOf(trigger, routine, catalogue, parser) : [];
    }),
  ];
}

function besideOf(trigger: Trigger, routine: Routine, catalogue: Catalogue, parser: Parser): Beside[] {
  const { unknown } = effectsOf(routine, catalogue, parser);
  const place = trigger.relation === null ? trigger.name : `${trigger.name} on ${trigger.relation}`;
  const of = {
    command: 'trigger',
    relation: place,
    role: 'everybody',
    about: { relation: place, role: 'everybody' },
  };
  if (unknown !== null) return [{ ...of, invariant: 'claims', why: `not understood: ${unknown}` }];
  const relation = catalogue.relations.get(trigger.relation ?? '');
  const isOfAction = relation?.actions.some(
    ({ onDelete, onUpdate }) =>
      (onDelete === 'cascade' && trigger.events.includes('delete')) ||
      ((/null|default/.test(onDelete) || onUpdate !== 'none') && trigger.events.includes('update')),
  );
  return isOfAction
    ? [{ ...of, invariant: 'definer', why: 'runs with the rights of the owner when a foreign key changes its rows' }]
    : [];
}
