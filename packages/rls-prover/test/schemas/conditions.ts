import fc from 'fast-check';

export const tenant = 'tenant_id = (select app.tenant_id())';
export const mine = `${tenant} and author_id = (select app.user_id())`;

/** Conditions of a policy of a table with a tenant, an author and a text, right ones and wrong ones. */
export const conditions = fc.letrec<{ any: string; leaf: string }>((tie) => ({
  leaf: fc.constantFrom(
    ...[
      mine,
      mine,
      mine,
      mine,
      tenant,
      'true',
      'false',
      'body is null',
      'author_id is not null',
      'tenant_id = app.tenant_id()',
    ],
    ...[
      'author_id = app.user_id()',
      'tenant_id = coalesce(app.tenant_id(), tenant_id)',
      'author_id is not distinct from (select app.user_id())',
    ],
    ...[
      'tenant_id in (select u.tenant_id from app.users u)',
      'exists (select from app.users u where u.id = author_id)',
    ],
    ...[
      'author_id = any (array[app.user_id(), author_id])',
      'author_id = any (array[app.user_id()])',
      'pair is null',
      'pair is not null',
      'not (pair is null) and not (pair is not null)',
    ],
    ...[
      'app.may(tenant_id)',
      'app.may(tenant_id, author_id)',
      'app.may(author => author_id, tenant => tenant_id)',
      'app.is_mine(author_id)',
    ],
    ...[
      'nullif(author_id, app.user_id()) is null',
      'case when body is null then false else author_id = app.user_id() end',
      '(author_id = app.user_id()) is not false',
    ],
    ...[
      'tenant_id = app.tenant_id() and author_id = (select n.author_id from app.notes n limit 1)',
      'length(body) > 3',
      "body like 'Text%'",
    ],
    // Contradictions, unless two calls differ or a collation takes different texts for equal.
    ...[
      'app.is_mine(author_id) and not app.is_mine(author_id)',
      `body = 'TEXT OF B1' and body <> 'Text of B1'`,
      `body = 'Text of B1' and body collate "C" <> 'Text of B1'`,
      `lower(body) <> lower('TEXT OF B1') and body = 'Text of B1'`,
    ],
    ...[
      'author_id in (select app.ids())',
      'author_id in (select app.same(app.ids()))',
      'author_id <> all (array(select app.ids()))',
      'not exists (select app.same(app.ids()))',
      'exists (select from (select app.ids() as own) t where t.own = author_id)',
      'app.is_listed(author_id)',
    ],
    ...[
      'exists (select from app.notes n where n.author_id = author_id)',
      'author_id in (select n.author_id from app.notes n)',
      'author_id <> all (array(select u.id from app.users u))',
    ],
  ),
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 1, arbitrary: tie('leaf') },
    { weight: 8, arbitrary: tie('leaf').map((leaf) => `(${mine}) and (${leaf})`) },
    { weight: 8, arbitrary: fc.constant(mine) },
    fc.tuple(tie('any'), tie('any')).map(([a, b]) => `(${a}) and (${b})`),
    fc.tuple(tie('any'), tie('any')).map(([a, b]) => `(${a}) or (${b})`),
    tie('any').map((a) => `not (${a})`),
    tie('any').map((a) => `coalesce((${a}), false)`),
  ),
})).any;
