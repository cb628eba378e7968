import { StartupError } from '../../../errors/errors.ts';
import { findOrganization } from '../findUser.ts';
import { abortMove } from './abortMove.ts';
import { type Cells, withCell, withCells } from './cells.ts';
import { copyOrganization } from './copyOrganization.ts';
import { cutOver } from './cutOver.ts';
import { dropMoved } from './dropMoved.ts';
import { findProblems } from './findProblems.ts';
import { lockMove, type Move, type MoveRow, moveOf, readMove } from './moves.ts';
import { readMovedTables } from './tables.ts';

export type MoveOptions = {
  /** A superuser's URL of the other cell's database. */
  readonly to: string;
  /** By which PostgreSQL there reaches this database; the owner's URL unless given. */
  readonly from?: string;
  /** Which step is done; none copies. */
  readonly cutOver?: boolean;
  readonly drop?: boolean;
  readonly abort?: boolean;
};

/**
 * `admin move-organization`: moves an organization to another cell by PostgreSQL's logical replication, step by step.
 * Each step may be killed at any point, and run again.
 *
 * @param report shows the progress to a person
 * @throws {StartupError} for every reason at once why it cannot be moved, before anything is changed
 */
export async function moveOrganization(
  { ownerUrl, key }: { readonly ownerUrl: string; readonly key: Buffer },
  name: string,
  options: MoveOptions,
  report: (message: string) => void,
): Promise<unknown> {
  return withCells(ownerUrl, options.to, async (cells) => {
    const { from, to } = cells;
    const id = await findOrganization(from.client, name);
    await lockMove(from.client, id);
    const here = await readMove(from, id);
    if (here?.state === 'arriving')
      throw new StartupError(`${name} is arriving here: finish or abort that move from the other cell.`);
    requireSamePeer(here, to.identity, name);
    const move = here && moveOf(id, name, here.moveId);

    if (options.abort) return abort(cells, move, here);
    if (options.drop) {
      if (!move || here?.state !== 'moved')
        throw new StartupError(`${name} has not moved: only what has moved is dropped.`);
      return dropMoved(cells, move);
    }
    if (options.cutOver) {
      if (!move || !['copying', 'moved'].includes(here.state))
        throw new StartupError(`${name} has not been copied: run the command without --cut-over first.`);
      return cutOver(cells, move);
    }

    if (here?.state === 'moved')
      throw new StartupError(`${name} has moved already: --drop deletes what is left of it here.`);
    const sourceUrl = options.from ?? ownerUrl;
    await withCell(sourceUrl, '--from URL', async (source) => {
      const isNew = here?.state !== 'copying' || (await readMove(to, id))?.moveId !== here.moveId;
      const problems = await findProblems({ ...cells, source, organizationId: id, key, isNew });
      if (problems.length > 0)
        throw new StartupError(`${name} cannot be moved; nothing was changed.\n${problems.join('\n')}`);
    });
    return copyOrganization(cells, { id, name }, { here, sourceUrl, report });
  });
}

/** A move that is under way goes to one database. */
function requireSamePeer(here: MoveRow | null, peer: string, name: string): void {
  if (here && here.state !== 'arrived' && here.peer !== peer)
    throw new StartupError(`${name} is being moved to another database than --to, or has moved there: name that one.`);
}

async function abort(cells: Cells, move: Move | null, here: MoveRow | null): Promise<unknown> {
  if (!move || !here || here.state === 'arrived') throw new StartupError('The organization is not being moved.');
  const there = await readMove(cells.to, move.organizationId);
  const isOver = here.state === 'moved' && !(there?.moveId === move.moveId && there.state === 'arriving');
  if (isOver)
    throw new StartupError(
      'The cut-over is over: run --drop here, and then move the organization back from the other cell.',
    );
  await abortMove(cells, move, await readMovedTables(cells.from.client));
  return { organization: move.organization, aborted: true };
}
