import { shareService } from '../support/sharedService.ts';
import { ask, createTenant, createUnit, createViewer, expectErrors, type GraphTest, type Tenant } from './support.ts';
import { asOwner, type SyncResult, syncUnits } from './sync.ts';

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
});

const sync = (units: object[], dryRun?: boolean) => syncUnits(graph, tenant, units, dryRun);

/** A row: its external identifier and, if they are given, its parent's, its name being the same. */
const unit = (externalIdentifier: string, parentExternalIdentifier?: string | null) => ({
  externalIdentifier,
  name: externalIdentifier,
  ...(parentExternalIdentifier !== undefined && { parentExternalIdentifier }),
});

describe('unitsSync', () => {
  it('creates, moves and renames, parents in any order, and leaves the rest untouched', async () => {
    const created = await sync([unit('room', 'floor'), unit('floor', 'hq'), unit('hq'), unit('annex', null)]);

    expect(created.map(({ outcome }) => outcome)).toEqual(Array(4).fill('CREATED'));
    expect(created[0]?.unit).toEqual({ name: 'room', parent: { externalIdentifier: 'floor' } });
    expect(await tree()).toEqual(['annex', 'hq', 'hq/floor', 'hq/floor/room']);
    const versions = await versionsOf();
    const changed = await sync([
      { externalIdentifier: 'floor', parentExternalIdentifier: 'annex' },
      { externalIdentifier: 'hq', name: ' Headquarters ' },
      unit('annex'),
    ]);
    expect(changed.map(({ outcome }) => outcome)).toEqual(['UPDATED', 'UPDATED', 'UNCHANGED']);
    expect(changed[1]?.unit).toEqual({ name: 'Headquarters', parent: null });
    expect(await tree()).toEqual(['annex', 'annex/floor', 'annex/floor/room', 'hq']);
    expect((await versionsOf()).annex).toBe(versions.annex);
    expect(await sync([{ externalIdentifier: 'floor', parentExternalIdentifier: null }])).toMatchObject([
      { outcome: 'UPDATED', unit: { parent: null } },
    ]);
    await expectAncestorsOfParents();
  });

  it('turns a tree upside down, and hangs what is there below what is new', async () => {
    const chain = ['a', 'b', 'c', 'd', 'e'];
    await sync(chain.map((name, index) => unit(name, chain[index - 1] ?? null)));

    const turned = await sync([...chain.map((name, index) => unit(name, chain[index + 1] ?? 'top')), unit('top')]);

    expect(turned.map(({ outcome }) => outcome)).toEqual([...Array(5).fill('UPDATED'), 'CREATED']);
    expect((await tree()).at(-1)).toBe('top/e/d/c/b/a');
    await expectAncestorsOfParents();
  });

  it('writes nothing in a dry run, and says what would come of it', async () => {
    await sync([unit('hq')]);
    const before = await versionsOf();
    const units = [unit('hq', 'top'), unit('top'), unit('x', 'nowhere')];

    const results = await sync(units, true);

    expect(results.map(({ outcome }) => outcome)).toEqual(['UPDATED', 'CREATED', 'REFUSED']);
    expect(results.map((row) => row.unit?.name ?? null)).toEqual(['hq', null, null]);
    expect(await versionsOf()).toEqual(before);
    expect((await sync(units)).map(({ outcome }) => outcome)).toEqual(['UPDATED', 'CREATED', 'REFUSED']);
  });

  it('refuses each row by itself', async () => {
    await sync([unit('hq'), unit('floor', 'hq')]);

    const results = await sync([
      { externalIdentifier: 'hq', name: null },
      { externalIdentifier: 'nameless' },
      { externalIdentifier: 'bad', name: 'a\u0007b' },
      unit(''),
      unit('lost', 'nowhere'),
      unit('of-refused', 'lost'),
      unit('below-of-refused', 'of-refused'),
      unit('floor', 'hq'),
      unit('twice'),
      unit('twice'),
      unit('good', 'twice'),
    ]);

    expect(results.map(reason)).toEqual([
      'BAD_USER_INPUT name',
      'BAD_USER_INPUT name',
      'BAD_USER_INPUT name',
      'BAD_USER_INPUT externalIdentifier',
      'NOT_FOUND parentExternalIdentifier',
      'NOT_FOUND parentExternalIdentifier',
      'NOT_FOUND parentExternalIdentifier',
      // Its parent is refused, too.
      'NOT_FOUND parentExternalIdentifier',
      'CREATED',
      'CONFLICT externalIdentifier',
      'CREATED',
    ]);
    expect(await tree()).toEqual(['hq', 'hq/floor', 'twice', 'twice/good']);
  });

  it('refuses what would be below itself, and the units below that', async () => {
    await sync([unit('a'), unit('b', 'a'), unit('c', 'b'), unit('x'), unit('y')]);

    // By way of units that are there, by way of each other, and by itself.
    const results = await sync([unit('a', 'c'), unit('x', 'y'), unit('y', 'x'), unit('new', 'new'), unit('d', 'x')]);

    expect(results.map(reason)).toEqual([
      ...Array(4).fill('BAD_USER_INPUT parentExternalIdentifier'),
      'NOT_FOUND parentExternalIdentifier',
    ]);
    expect(await tree()).toEqual(['a', 'a/b', 'a/b/c', 'x', 'y']);
    // A sync that makes room for it succeeds.
    expect((await sync([unit('a', 'c'), unit('b', null)])).map(reason)).toEqual(['UPDATED', 'UPDATED']);
    expect(await tree()).toEqual(['b', 'b/c', 'b/c/a', 'x', 'y']);
    await expectAncestorsOfParents();
  });

  it('keeps a circle out that only appears when another row is refused', async () => {
    await sync([unit('a'), unit('b', 'a')]);

    // b cannot leave a, and so a cannot go below it.
    const results = await sync([unit('a', 'b'), unit('b', 'nowhere')]);

    expect(results.map(reason)).toEqual(Array(2).fill('NOT_FOUND parentExternalIdentifier'));
    expect(await tree()).toEqual(['a', 'a/b']);
  });

  it('does not tell another organization’s unit from none', async () => {
    const stranger = await createTenant(graph);
    await createUnit(stranger, { externalIdentifier: 'theirs' });

    const results = await sync([unit('a', 'theirs'), unit('b', 'nowhere'), unit('theirs')]);

    // Here it is a new unit of one's own; the row before it names that.
    expect(results.map(reason)).toEqual(['CREATED', 'NOT_FOUND parentExternalIdentifier', 'CREATED']);
    expect(await tree()).toEqual(['theirs', 'theirs/a']);
    expect(await tree(stranger)).toEqual(['theirs']);
    const [foreign, unknown] = await syncUnits(graph, stranger, [unit('x', 'a'), unit('x2', 'nowhere')]);
    expect(foreign?.error).toEqual(unknown?.error);
  });

  it('is for app tokens, and for 1 to 1,000 rows', async () => {
    const { token } = await createViewer(tenant);
    const query = (units: string) => `mutation { unitsSync(units: ${units}) { results { outcome } } }`;
    const path = ['unitsSync'];
    for (const other of [token, tenant.basic]) {
      const answer = await ask(graph, other, query('[{ externalIdentifier: "x", name: "X" }]'));
      expectErrors(answer, { unitsSync: null }, { code: 'FORBIDDEN', path });
    }
    const empty = await ask(graph, tenant.app, query('[]'));
    expectErrors(empty, { unitsSync: null }, { code: 'BAD_USER_INPUT', argument: 'units', path });
    expect(await tree()).toEqual([]);
  });

  it('lets several syncs of the same tree go on at once', async () => {
    const names = Array.from({ length: 30 }, (_, number) => `u-${number}`);
    const below = (step: number) =>
      names.map((name, index) => unit(name, index === 0 ? null : names[Math.floor((index - 1) / step)]));
    await sync(below(1));

    const answers = await Promise.all([2, 3, 4, 5, 6, 7, 8, 1].map((step) => sync(below(step).reverse())));

    expect(answers.flat().filter(({ outcome }) => outcome === 'REFUSED')).toEqual([]);
    expect(await tree()).toHaveLength(30);
    await expectAncestorsOfParents();
  });
});

const reason = ({ outcome, error }: SyncResult) => (error ? `${error.code} ${error.argument}` : outcome);

/** The ways from the roots to all units, by external identifiers, as the ancestors have them. */
async function tree(of = tenant): Promise<string[]> {
  const rows = await asOwner<{ path: string }>(
    of,
    `select (
       select string_agg(a.external_identifier, '/' order by n)
       from unnest(u.ancestor_ids) with ordinality as i (id, n) join app_public.units a using (id)) as path
     from app_public.units u where u.organization_id = $1`,
  );
  return rows.map(({ path }) => path).sort();
}

async function versionsOf(): Promise<Record<string, string>> {
  const statement = 'select external_identifier as name, xmin || ctid::text as version from app_public.units';
  const rows = await asOwner<{ name: string; version: string }>(tenant, `${statement} where organization_id = $1`);
  return Object.fromEntries(rows.map(({ name, version }) => [name, version]));
}

/** The ancestors of each unit follow from the parents, in both places. */
async function expectAncestorsOfParents(): Promise<void> {
  const wrong = await asOwner(
    tenant,
    `with recursive placed as (
       select id, array[id] as ancestor_ids from app_public.units where organization_id = $1 and parent_id is null
       union all
       select u.id, p.ancestor_ids || u.id from app_public.units u join placed p on u.parent_id = p.id
     )
     select u.id
     from app_public.units u
     left join placed p on p.id = u.id
     where u.organization_id = $1 and (
       p.ancestor_ids is distinct from u.ancestor_ids
       or u.ancestor_ids is distinct from array(
         select a.ancestor_id from app_hidden.unit_ancestors a where a.unit_id = u.id
         order by array_position(u.ancestor_ids, a.ancestor_id)))`,
  );
  expect(wrong).toEqual([]);
}
