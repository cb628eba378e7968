import fc from 'fast-check';

/** Policies of app_public.users for people, drawn from a grammar: what they compare, with what, and how it is joined. */
export const policies: fc.Arbitrary<string> = fc
  .letrec<{ any: string; leaf: string }>((tie) => ({
    leaf: fc.constantFrom(
      ...[
        'true',
        'false',
        'null',
        'email is null',
        'external_identifier is not null',
        `full_name = 'x'`,
        `locale in ('en-US', 'de')`,
      ],
      ...[
        'organization_id = ORG',
        'organization_id = ORG',
        'organization_id = ORG',
        'organization_id <> ORG',
        'ORG is not null',
      ],
      ...[
        'organization_id is not distinct from ORG',
        'organization_id = coalesce(ORG, organization_id)',
        'organization_id is distinct from APP',
      ],
      ...[
        'nullif(organization_id, ORG) is null',
        'organization_id = any (array[ORG, APP])',
        'ORG in (organization_id, id)',
      ],
      ...[
        'id = USER',
        'id = USER',
        'id = APP',
        'id <> USER',
        'id = coalesce(USER, id)',
        'USER is null',
        'id in (USER, APP)',
      ],
      'id in (select a.user_id from app_hidden.unit_access a)',
      'id not in (select a.user_id from app_hidden.unit_access a)',
      'id = any (array(select a.user_id from app_public.card_assignments a))',
      'id <> all (array(select a.user_id from app_public.card_assignments a))',
      'exists (select from app_public.card_assignments a where a.user_id = users.id and a.organization_id = users.organization_id)',
      'exists (select from app_public.card_assignments a where a.user_id = users.id)',
      'not exists (select from app_hidden.unit_access a where a.user_id = users.id)',
      'organization_id in (select a.organization_id from app_hidden.unit_access a)',
      '(select a.user_id from app_hidden.unit_access a where a.user_id = USER limit 1) = id',
      '(select count(*) from app_hidden.unit_access a) > 0',
      'exists (select from app_hidden.unit_access a left join app_public.card_assignments c on c.user_id = a.user_id where c.user_id is null)',
      'exists (select a.user_id from app_hidden.unit_access a where a.user_id = users.id union all select c.user_id from app_public.card_assignments c where c.user_id = users.id)',
    ),
    any: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      tie('leaf'),
      fc.tuple(tie('any'), tie('any')).map(([a, b]) => `(${a}) and (${b})`),
      fc.tuple(tie('any'), tie('any')).map(([a, b]) => `(${a}) or (${b})`),
      tie('any').map((a) => `not (${a})`),
      tie('any').map((a) => `(${a}) is not false`),
      tie('any').map((a) => `coalesce((${a}), false)`),
      fc.tuple(tie('any'), tie('any'), tie('any')).map(([a, b, c]) => `case when ${a} then ${b} else ${c} end`),
    ),
  }))
  .any.map((text) => text.replaceAll(/\b(ORG|USER|APP)\b/g, (name) => claims[name as keyof typeof claims]));

const claims = {
  ORG: '(select app_hidden.current_organization_id())',
  USER: '(select app_hidden.current_user_id())',
  APP: 'app_hidden.current_application_id()',
};
