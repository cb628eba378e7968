import { type Copy, DockerfileParser, type JSONInstruction } from 'dockerfile-ast';
import { read } from './support.ts';

export const instructions = async () => DockerfileParser.parse(await read('deploy/Dockerfile')).getInstructions();

/** The arguments of an instruction that is written as a JSON array. */
export async function jsonOf(keyword: string): Promise<string[]> {
  const found = (await instructions()).filter((instruction) => instruction.getKeyword() === keyword);
  expect(found).toHaveLength(1);
  return (found[0] as JSONInstruction).getJSONStrings().map((text) => JSON.parse(text.getValue()));
}

/** What the last stage takes of the repository. */
export async function copied(): Promise<string[]> {
  const all = await instructions();
  const lastStage = all.slice(all.findLastIndex((instruction) => instruction.getKeyword() === 'FROM'));
  const copies = lastStage.filter((instruction) => instruction.getKeyword() === 'COPY') as Copy[];
  return copies
    .filter((copy) => copy.getFlags().length === 0)
    .flatMap((copy) =>
      copy
        .getArguments()
        .slice(0, -1)
        .map((argument) => argument.getValue()),
    );
}
