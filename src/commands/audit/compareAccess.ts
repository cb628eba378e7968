import type { Access, Policy } from './readAccess.ts';

/** One change of access. */
export type Difference = {
  /** `equal`: another text, but provably the same access. */
  verdict: 'wider' | 'narrower' | 'unclear' | 'equal';
  object: string;
  role: string;
  detail: string;
};

/** Compares two accesses: what only `after` allows, and what only `before` does. */
export function compareAccess(before: Access, after: Access): Difference[] {
  return [
    ...compareSets(before.grants, after.grants, (name, members) => {
      const [command = '', role = '', object = ''] = partsOf(name);
      return { object, role, detail: members[0] === '*' ? command : `${command} ${members.join(', ')}` };
    }),
    ...compareSets(before.callers, after.callers, (object, members) => ({
      object,
      role: members.join(', '),
      detail: 'call',
    })),
    ...compareSets(before.bypasses, after.bypasses, (name, members) => {
      const [kind = '', object = ''] = partsOf(name);
      return { object, role: members.join(', '), detail: `escapes the policies: ${kind}` };
    }),
    ...compareRowSecurity(before.rowSecurity, after.rowSecurity),
    ...comparePolicies(before.policies, after.policies),
    ...compareDefinitions(before, after),
    ...compareSets(before.outcomes, after.outcomes, (name, members) => {
      const [command = '', role = '', object = ''] = partsOf(name);
      return {
        object,
        role,
        detail: `${command}, tried: ${members.length} example row${members.length === 1 ? '' : 's'}, such as for ${members[0]}`,
      };
    }),
  ];
}

/** Names may have spaces. */
const partsOf = (name: string): string[] => JSON.parse(name);

type Sets = ReadonlyMap<string, ReadonlySet<string>>;

/** A gained member is wider, a lost one is narrower; a name may have both. */
function compareSets(
  before: Sets,
  after: Sets,
  describe: (name: string, members: string[]) => Omit<Difference, 'verdict'>,
): Difference[] {
  return names(before, after).flatMap((name) => {
    const [old, current] = [before.get(name) ?? none, after.get(name) ?? none];
    const [gained, lost] = [[...current.difference(old)], [...old.difference(current)]];
    return [
      ...(gained.length > 0 ? [{ verdict: 'wider' as const, ...describe(name, gained) }] : []),
      ...(lost.length > 0 ? [{ verdict: 'narrower' as const, ...describe(name, lost) }] : []),
    ];
  });
}

const none: ReadonlySet<string> = new Set();

const strength = ['off', 'on, not forced', 'forced'];

function compareRowSecurity(before: Access['rowSecurity'], after: Access['rowSecurity']): Difference[] {
  return names(before, after).flatMap((object) => {
    const [old, current] = [before.get(object), after.get(object)];
    if (old === undefined || current === undefined || old === current) return [];
    const verdict = strength.indexOf(current) < strength.indexOf(old) ? 'wider' : 'narrower';
    return [{ verdict, object, role: '', detail: `row-level security is ${current}; it was ${old}` }];
  });
}

function comparePolicies(before: Access['policies'], after: Access['policies']): Difference[] {
  return names(before, after).flatMap((object): Difference[] => {
    const [old, current] = [before.get(object), after.get(object)];
    const role = (current ?? old)?.roles.join(', ') ?? '';
    if (old && current) {
      return textOf(old) === textOf(current) ? [] : [{ object, role, ...judge(old, current) }];
    }
    const permissive = (current ?? old)?.permissive ?? true;
    const verdict = permissive === (current !== undefined) ? 'wider' : 'narrower';
    const kind = permissive ? 'a policy' : 'a restrictive policy';
    return [
      { verdict, object, role, detail: `${kind} ${current ? 'was added' : 'is gone'}: ${textOf(current ?? old)}` },
    ];
  });
}

/** By the example rows: wider when the policy holds for all former rows, and for more. */
function judge(old: Policy, current: Policy): Pick<Difference, 'verdict' | 'detail'> {
  const changed = `${textOf(old)} became ${textOf(current)}`;
  if (old.permissive !== current.permissive || old.command !== current.command)
    return { verdict: 'unclear', detail: `${changed}; is of another kind` };
  const [gained] = current.holds.difference(old.holds);
  const [lost] = old.holds.difference(current.holds);
  if (gained && !lost) return { verdict: 'wider', detail: `${changed}; now holds for ${gained}` };
  if (lost && !gained) return { verdict: 'narrower', detail: `${changed}; no longer holds for ${lost}` };
  return { verdict: 'unclear', detail: `${changed}; holds for ${gained ? 'other' : 'the same'} example rows` };
}

const textOf = (policy: Policy | undefined) =>
  policy
    ? [
        `${policy.permissive ? '' : 'restrictive '}${policy.command} to ${policy.roles.join(', ')}`,
        ...(policy.using === null ? [] : [`using ${policy.using}`]),
        ...(policy.check === null ? [] : [`with check ${policy.check}`]),
      ].join(' ')
    : '';

function compareDefinitions(before: Access, after: Access): Difference[] {
  return [...after.definitions]
    .filter(([object, text]) => before.definitions.has(object) && before.definitions.get(object) !== text)
    .map(([object]) => ({ verdict: 'unclear', object, role: '', detail: 'what it does has changed' }));
}

const names = (before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>) =>
  [...new Set([...before.keys(), ...after.keys()])].sort();
