import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { opened } from '../support/openThings.ts';

/** A real name server on a port of this machine; `answers` has the addresses of each name, for one question after the other. */
export async function startNameServer(answers: Readonly<Record<string, readonly (readonly string[])[]>>) {
  const asked = new Map<string, number>();
  const socket = createSocket('udp4');
  socket.on('message', (question, { port, address }) => {
    const { name, type, end } = readQuestion(question);
    const count = asked.get(`${name} ${type}`) ?? 0;
    asked.set(`${name} ${type}`, count + 1);
    const all = answers[name];
    const found = (all?.[Math.min(count, all.length - 1)] ?? []).filter(
      (found) => isIP(found) === (type === 28 ? 6 : 4),
    );
    // A response without recursion's doubts; 3 is NXDOMAIN.
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(all ? 0x8180 : 0x8183, 2);
    header.writeUInt16BE(found.length, 6);
    header.fill(0, 8);
    const records = found.map((text) => {
      const data = type === 28 ? ipv6(text) : Buffer.from(text.split('.').map(Number));
      // The name by reference, type, class IN, no time to live.
      return Buffer.concat([Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]), data]);
    });
    socket.send(Buffer.concat([header, question.subarray(12, end), ...records]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const closed = opened('name server');
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    resolver,
    async stop() {
      socket.close();
      await once(socket, 'close');
      closed();
    },
  };
}

function readQuestion(question: Buffer) {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: question.readUInt16BE(at + 1), end: at + 5 };
}

/** Written out in full, or with one `::`. */
function ipv6(text: string): Buffer {
  const [head = [], tail = []] = text.split('::').map((part) => part.split(':').filter(Boolean));
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
