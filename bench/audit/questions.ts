/** The questions of an auditor about the examples of `buildHistory`: the twelve of docs/auditing-access.md. */
export const questions: ReadonlyMap<string, string> = new Map([
  ['Who can see or change this unit?', `select * from audit.who_can('app_public.units', :unit)`],
  ['Who can see or change this person?', `select * from audit.who_can('app_public.users', :person)`],
  [
    'Why does she not see this unit?',
    `select * from audit.explain_access('me:' || :person, 'app_public.units', :unit)`,
  ],
  ['What does she see?', `select * from audit.visible('me:' || :person)`],
  [
    'Who could see or change this unit yesterday?',
    `select * from audit.who_could('app_public.units', :unit, 'yesterday')`,
  ],
  ['What did she see yesterday?', `select * from audit.visible_at('me:' || :person, 'yesterday')`],
  [
    'Who may change what in this table?',
    `select * from audit.matrix where relation = 'app_public.users'::regclass and granted`,
  ],
  ['What escapes row-level security?', 'select * from audit.bypasses'],
  ['Who changed this person, and what?', 'select * from audit.changes where subject_id = :person order by id'],
  [
    'What happened in this organization yesterday?',
    `select * from audit.changes where organization_id = :organization
       and occurred_at >= current_date - 1 and occurred_at < current_date order by occurred_at, id limit 1000`,
  ],
  [
    'What did this person do in the last 30 days?',
    `select * from audit.changes where user_id = :actor and occurred_at >= now() - interval '30 days' order by occurred_at, id`,
  ],
  [
    'What did this application do last, in this year?',
    `select * from audit.changes where application_id = :application and occurred_at >= now() - interval '1 year'
     order by occurred_at desc, id desc limit 100`,
  ],
]);
