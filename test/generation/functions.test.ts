import { describeMutations } from './describeMutations.ts';
import { describeRowFunctions } from './describeRowFunctions.ts';
import { type DoorGraph, startDoorGraph } from './startDoorGraph.ts';

// One service for both parts, which takes longer to start than they run.

let doors: DoorGraph;
beforeAll(async () => {
  doors = await startDoorGraph();
});
afterAll(() => doors.graph.stop());

describe('a function of a row', () => describeRowFunctions(() => doors));

describe('a mutation', () => describeMutations(() => doors));
