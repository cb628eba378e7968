import type { PlantedFault } from './plantFault.ts';

/** In how a mutation is executed, committed and replayed. */
const execution: readonly PlantedFault[] = [
  {
    name: 'the last field of a mutation is executed first',
    file: 'src/graphql/execute.ts',
    from: `    for (const { key, requested } of fields) {
      const result = await this.#execute(key, requested);
      // If an answer is too long, it has no data in the end.
      results.push(`,
    to: `    for (const { key, requested } of [...fields].reverse()) {
      const result = await this.#execute(key, requested);
      results.unshift(`,
  },
  {
    name: 'a mutation in a statement of its own is not committed',
    file: 'src/graphql/statements.ts',
    from: 'commit: () => end(true),',
    to: 'commit: () => end(false),',
  },
  {
    name: 'an idempotency key answers another request',
    file: 'src/graphql/idempotency.ts',
    from: 'settings.role, key, requestHash]',
    to: 'settings.role, key]',
  },
  {
    name: 'a mutation with a key is not committed',
    file: 'src/graphql/idempotency.ts',
    from: "await transaction.commit({ name: 'keep_answer', text: storeText, values: [keyHash, sealed] });",
    to: "await transaction.run({ name: 'keep_answer', text: storeText, values: [keyHash, sealed] }, null); await transaction.rollBack();",
  },
];

/** In the functions that are mutations. */
const functions: readonly PlantedFault[] = [
  {
    name: 'a dry run writes units',
    function: 'app_public.units_sync',
    from: 'exit when is_dry_run;',
    to: '',
  },
  {
    name: 'a sync of units moves none that is there',
    function: 'app_hidden.write_units',
    from: 'select c.name, c.parent_id from',
    to: 'select c.name, u.parent_id from',
  },
  {
    name: 'a sync of users takes no access away',
    function: 'app_hidden.write_users',
    from: 'not unit_ids_by_id -> a.user_id::text ? a.unit_id::text',
    to: 'false',
  },
  {
    name: 'a sync of cards leaves a card to those who had it',
    function: 'app_hidden.write_cards',
    from: 'not holders_by_id -> a.card_id::text ? a.user_id::text',
    to: 'false',
  },
  {
    name: 'a card whose row is refused gives up its chip',
    function: 'app_hidden.refuse_cards',
    from: "where outcome <> 'REFUSED'\n      ),\n      kept",
    to: '\n      ),\n      kept',
  },
  {
    name: 'a dry run writes cards',
    function: 'app_public.cards_sync',
    from: 'exit when is_dry_run;',
    to: '',
  },
  {
    name: 'the second row of a user in a sync counts',
    function: 'app_hidden.judge_users',
    from: 'when w.number > 1 then',
    to: 'when w.number > 2 then',
  },
  {
    name: 'a row of a sync that is refused keeps another from what it wants',
    function: 'app_hidden.unique_values',
    from: "where j.outcome <> 'REFUSED'",
    to: '',
  },
  {
    name: 'an update cannot take an external identifier away',
    function: 'app_public.unit_update',
    from: 'then unit_update.external_identifier else',
    to: 'then coalesce(unit_update.external_identifier, u.external_identifier) else',
  },
  {
    name: 'a unit that is deleted tells of the ones above it',
    function: 'app_public.unit_delete',
    from: 'unit.parent_id = null;',
    to: '',
  },
  {
    name: 'an update keeps the white space around a name',
    function: 'app_public.user_update',
    from: 'app_hidden.trimmed(user_update.full_name)',
    to: 'user_update.full_name',
  },
  {
    name: 'a new user speaks no other language',
    function: 'app_public.user_create',
    from: "coalesce(user_create.locale, 'en')",
    to: "'en'",
  },
  {
    name: 'a revoked grant takes the others of the user along',
    function: 'app_public.access_revoke',
    from: ' and a.unit_id = closed_id',
    to: '',
  },
  {
    name: 'a card is taken from all who hold it',
    function: 'app_public.card_unassign',
    from: 'and a.card_id = assigned_id and a.user_id = holder_id',
    to: 'and a.card_id = assigned_id',
  },
  {
    name: 'the chip of a card is stored as it was sent',
    function: 'app_public.nfc_card_create',
    from: 'upper(nfc_card_create.nfc_identifier collate "C")',
    to: 'nfc_card_create.nfc_identifier',
  },
  {
    name: 'a webhook keeps its types when they are taken away',
    function: 'app_public.webhook_update',
    from: "case when 'typeNames' = any (given) then webhook_update.type_names else w.type_names end",
    to: 'coalesce(webhook_update.type_names, w.type_names)',
  },
  {
    name: 'a moved unit keeps those above it',
    function: 'app_hidden.units_move_subtrees',
    from: 'and a.unit_id = gone.unit_id',
    to: 'and false',
  },
];

/** In the feed of changes. */
const feed: readonly PlantedFault[] = [
  {
    name: 'the feed does not tell of another name',
    function: 'feed.record_row',
    from: 'order by e.step',
    to: "where e.columns = '{}' or not e.columns <@ '{name,full_name}'::text[]",
  },
  {
    name: 'the feed tells one of several deletions',
    function: 'feed.record_rows',
    // Of a table without a type.
    from: "'{}'\n      from affected r;",
    to: "'{}'\n      from (select * from affected limit case tg_op when 'DELETE' then 1 end) r;",
  },
  {
    name: 'nothing says when it was changed',
    function: 'app_hidden.set_updated_at',
    from: 'new.updated_at := clock_timestamp();',
    to: 'null;',
  },
];

/** Found by sending mutations. */
export const faultsOfMutations: readonly PlantedFault[] = [...execution, ...functions, ...feed];
