import { readFile } from 'node:fs/promises';

/** A heap snapshot of V8 as a graph: nodes by their index, with what they refer to strongly. */
export type Snapshot = {
  readonly count: number;
  typeOf(node: number): string;
  nameOf(node: number): string;
  /** Bytes of the node itself. */
  sizeOf(node: number): number;
  /** Calls back with each reference; not with weak ones, which keep nothing. */
  eachReference(node: number, visit: (to: number, name: string) => void): void;
};

/** Reads what `v8.writeHeapSnapshot` wrote. */
export async function readSnapshot(file: string): Promise<Snapshot> {
  const { snapshot, nodes, edges, strings } = JSON.parse(await readFile(file, 'utf8')) as Serialized;
  const { node_fields, node_types, edge_fields, edge_types } = snapshot.meta;
  const nodeLength = node_fields.length;
  const edgeLength = edge_fields.length;
  const [type, name, size, edgeCount] = ['type', 'name', 'self_size', 'edge_count'].map((field) =>
    node_fields.indexOf(field),
  ) as [number, number, number, number];
  const [edgeType, edgeName, toNode] = ['type', 'name_or_index', 'to_node'].map((field) =>
    edge_fields.indexOf(field),
  ) as [number, number, number];
  const count = nodes.length / nodeLength;
  const at = (node: number, field: number) => nodes[node * nodeLength + field] as number;
  const firstEdge = new Uint32Array(count + 1);
  for (let node = 0; node < count; node++) firstEdge[node + 1] = (firstEdge[node] as number) + at(node, edgeCount);
  return {
    count,
    typeOf: (node) => node_types[0][at(node, type)] ?? '',
    nameOf: (node) => strings[at(node, name)] ?? '',
    sizeOf: (node) => at(node, size),
    eachReference(node, visit) {
      for (let edge = firstEdge[node] as number; edge < (firstEdge[node + 1] as number); edge++) {
        const start = edge * edgeLength;
        const kind = edge_types[0][edges[start + edgeType] as number];
        const isNamed = kind !== 'element' && kind !== 'hidden';
        const label = isNamed ? (strings[edges[start + edgeName] as number] ?? '') : '';
        if (kind !== 'weak') visit((edges[start + toNode] as number) / nodeLength, label);
      }
    },
  };
}

type Serialized = {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly [readonly string[]];
      readonly edge_fields: readonly string[];
      readonly edge_types: readonly [readonly string[]];
    };
  };
  readonly nodes: readonly number[];
  readonly edges: readonly number[];
  readonly strings: readonly string[];
};
