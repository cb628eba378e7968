import { definer, type Tries } from './try.ts';

const other = { act: 'select tenant_id from app.users', sees: /bbbbbbbb/, names: /app\.users/ };
const all = 'grant execute on all functions in schema app to member;';

/** The rows of `select f()`, where `f` returns a set: a column with the name of the function, for each row of its arguments. */
export const sets: Tries = {
  'has another column than its query': {
    ...other,
    given: `create function app.mine() returns setof uuid language sql stable ${definer} as $$ select u.tenant_id from app.users u where u.tenant_id = app.tenant_id() $$;
      create function app.is_other(tenant_id uuid) returns boolean language sql stable
        as $$ select exists (select from (select app.mine() as id) t where tenant_id <> app.tenant_id()) $$;
      alter policy users_of_tenant on app.users using (app.is_other(tenant_id)); ${all}`,
  },
  'has the name of its function and not that of its column': {
    ...other,
    given: `create function app.mine() returns setof uuid language sql stable ${definer} as $$ select u.tenant_id from app.users u where u.tenant_id = app.tenant_id() $$;
      create function app.is_other(tenant_id uuid) returns boolean language sql stable
        as $$ with t as (select app.mine()) select exists (select from t where tenant_id <> app.tenant_id()) $$;
      alter policy users_of_tenant on app.users using (app.is_other(tenant_id)); ${all}`,
  },
  'is called for no row of its argument': {
    ...other,
    given: `create function app.none() returns setof uuid language sql stable as $$ select app.user_id() where app.user_id() is null $$;
      create function app.same(uuid) returns setof uuid language sql stable as $$ select $1 $$; ${all}
      alter policy users_of_tenant on app.users using (not exists (select app.same(app.none())));`,
  },
};
