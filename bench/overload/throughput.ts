import { Connection } from '../peers/load/Connection.ts';

/** Requests per second when so many clients each send one after the other. @throws when one is answered with another status */
export async function throughput(
  port: number,
  request: Buffer,
  clients: number,
  seconds: number,
  expected = 200,
): Promise<number> {
  const end = performance.now() + seconds * 1000;
  const answers = await Promise.all(
    Array.from({ length: clients }, async () => {
      const connection = await Connection.open(port);
      let answered = 0;
      while (performance.now() < end) {
        const { status } = await connection.send(request);
        if (status !== expected) throw new Error(`The service answered ${status}`);
        answered++;
      }
      connection.close();
      return answered;
    }),
  );
  return answers.reduce((sum, count) => sum + count, 0) / seconds;
}
