import type { PlantedFault } from './plantFault.ts';

/** In the function that decides who may enter. */
export const faultsOfDecisions: readonly PlantedFault[] = [
  {
    name: 'a grant gives access at its end',
    from: "when a.valid_until <= moment then 'EXPIRED'",
    to: "when a.valid_until < moment then 'EXPIRED'",
  },
  {
    name: 'a grant gives no access at its beginning',
    from: "when a.valid_from > moment then 'NOT_YET_VALID'",
    to: "when a.valid_from >= moment then 'NOT_YET_VALID'",
  },
  {
    name: 'a grant that has ended counts more than one that has yet to begin',
    from: 'case when a.valid_until <= moment then 3 when a.valid_from > moment then 2 else 1 end',
    to: 'case when a.valid_until <= moment then 2 when a.valid_from > moment then 3 else 1 end',
  },
  {
    name: 'the farthest grant decides',
    from: 'array_position(unit_ids, a.unit_id) desc',
    to: 'array_position(unit_ids, a.unit_id)',
  },
  {
    name: 'a grant on a unit above gives no access',
    from: 'a.unit_id = any (unit_ids)',
    to: 'a.unit_id = decision.unit_id',
  },
  {
    name: 'one of several holders is named who may not enter',
    from: 'case when cardinality(holder_ids) = 1 then holder_ids[1] end',
    to: 'holder_ids[1]',
  },
  {
    name: 'a chip is known in upper case alone',
    from: 'upper(question.nfc_identifier collate "C")',
    to: 'question.nfc_identifier',
  },
  {
    name: 'grants are judged by the present alone',
    from: 'coalesce(question.at, app_hidden.current_moment())',
    to: 'app_hidden.current_moment()',
  },
  {
    name: 'an id counts before an external identifier',
    from: "if holder_ids = '{}' and question.user_id is not null then",
    to: 'if question.user_id is not null then',
  },
].map((fault) => ({ ...fault, function: 'app_hidden.decide_access' }));
