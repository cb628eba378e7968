import { startCell } from '../test/system/support/cells.ts';
import { moveUnderLoad } from '../test/system/support/moveUnderLoad.ts';
import { describeMachine } from './support/describeMachine.ts';
import { atMost, type Measured } from './support/measured.ts';
import { toTable } from './support/toTable.ts';

/**
 * `npm run bench cells [people]`: moves an organization of 100,000 people to another cell and back, under the load of
 * `npm run test:system -- system/cells`. Prints how long the organization was stopped, and the 99th percentile of what others read before,
 * during and after. Exits with 1 when a bound is missed, or something was lost or refused.
 */
const [, , people = '100000'] = process.argv;

await using resources = new AsyncDisposableStack();
const one = await startCell();
resources.defer(one.remove);
const other = await startCell();
resources.defer(other.remove);

const { moves, before, after, acknowledged, unavailable, ...wrong } = await moveUnderLoad([one, other], Number(people));
const rows: Measured[] = moves.flatMap(({ stoppedForMs, copiedMs, droppedMs, p99 }, index) => {
  const way = index === 0 ? 'there' : 'back';
  const ratio = p99.all / before;
  return [
    atMost(`${way}: the organization is stopped`, stoppedForMs, 2000, 'ms'),
    atMost(`${way}: p99 of others, ${p99.copy} copy, ${p99.cutOver} cut-over, ${p99.drop} drop`, p99.all, 250, 'ms'),
    { what: `${way}: that p99 to the one before`, figure: ratio.toFixed(1), bound: '', isMet: true },
    { what: `${way}: copied, dropped`, figure: `${copiedMs} ms, ${droppedMs} ms`, bound: '', isMet: true },
  ];
});
rows.push(
  { what: 'p99 of others before, after', figure: `${before} ms, ${after} ms`, bound: '', isMet: true },
  { what: 'writes that were acknowledged', figure: String(acknowledged), bound: '', isMet: true },
  { what: '503 during both cut-overs', figure: String(unavailable), bound: '', isMet: true },
);
for (const [what, found] of Object.entries(wrong)) {
  const count = Object.keys(found).length;
  rows.push({ what, figure: count === 0 ? '0' : JSON.stringify(found).slice(0, 200), bound: '0', isMet: count === 0 });
}
console.log(toTable([['', 'figure', 'bound'], ...rows.map(({ what, figure, bound }) => [what, figure, bound])]));
console.log(`${people} people, 48 clients. ${await describeMachine(one.ownerUrl)}`);
process.exitCode = rows.every(({ isMet }) => isMet) ? 0 : 1;
