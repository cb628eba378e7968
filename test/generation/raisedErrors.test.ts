import { type FunctionTexts, raisedErrors } from '../../plugins/RaisedErrorsPlugin.ts';

const texts: FunctionTexts = new Map([
  [
    'app_public.door_open',
    `begin
      perform app_hidden.find_door(id);
      -- raise unique_violation using message = 'In a comment; it is none.';
      if locked then
        raise check_violation using message = 'The door is locked; it isn''t open -- now.', column = 'id';
      end if;
      raise invalid_parameter_value using
        message = 'Give one', column = case when id is null then 'externalIdentifier' else 'id' end;
      raise unique_violation using schema = 'app_public', table = 'doors', constraint = 'doors_key';
      raise check_violation using message = format('%s isn''t %1$-8s; 5 %% of %L', name, max), column = 'name';
      raise check_violation using message = format(case when long then 'Is long' else 'Is short' end), column = 'name';
      raise notice 'begins';
    end`,
  ],
  [
    'app_hidden.find_door',
    `begin
      perform app_hidden.find_door(parent), pg_catalog.length('');
      raise no_data_found using message = 'There is no such door';
      raise no_data_found using message = 'There is no such door';
    end`,
  ],
  ['app_hidden.others', `begin raise no_data_found using message = 'Of another function'; end`],
]);

test('the errors of a function and of those that it calls, each once', () => {
  expect(raisedErrors('app_public.door_open', texts)).toEqual([
    { condition: 'check_violation', message: "The door is locked; it isn't open -- now.", arguments: ['id'] },
    { condition: 'invalid_parameter_value', message: 'Give one', arguments: ['externalIdentifier', 'id'] },
    { condition: 'check_violation', message: "… isn't …; 5 % of …", arguments: ['name'] },
    { condition: 'no_data_found', message: 'There is no such door', arguments: [] },
  ]);
  expect(raisedErrors('app_hidden.others', texts)).toHaveLength(1);
  expect(raisedErrors('app_hidden.unheard', texts)).toEqual([]);
});
