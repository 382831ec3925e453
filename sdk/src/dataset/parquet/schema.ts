/** The schema of a Parquet file. A column may be missing in any row, a list or map has none or more entries. */
import type { ThriftWriter } from './thrift.js';

/** As Parquet numbers them. */
export const PhysicalType = { BOOLEAN: 0, INT64: 2, BYTE_ARRAY: 6 } as const;
export type PhysicalType = (typeof PhysicalType)[keyof typeof PhysicalType];

const Repetition = { REQUIRED: 0, OPTIONAL: 1, REPEATED: 2 } as const;
const Converted = { UTF8: 0, MAP: 1, LIST: 3, INT_64: 18 } as const;

export interface SchemaNode {
  readonly name: string;
  /** Of a column; groups have children. */
  readonly type?: PhysicalType;
  readonly repetition: number;
  readonly converted?: number;
  readonly children?: readonly SchemaNode[];
}

/** A column as the file has it: lists and maps have several. */
export interface Leaf {
  readonly path: readonly string[];
  readonly type: PhysicalType;
  /** Level of a value that is there. */
  readonly maxDefinition: number;
  readonly maxRepetition: number;
}

export function flatNode(name: string, type: PhysicalType, isRequired = false): SchemaNode {
  const repetition = isRequired ? Repetition.REQUIRED : Repetition.OPTIONAL;
  if (type === PhysicalType.BOOLEAN) return { name, type, repetition };
  return {
    name,
    type,
    repetition,
    converted: type === PhysicalType.INT64 ? Converted.INT_64 : Converted.UTF8,
  };
}

/** A list of structs. */
export function listNode(name: string, fields: readonly SchemaNode[]): SchemaNode {
  const element = { name: 'element', repetition: Repetition.OPTIONAL, children: fields };
  const list = { name: 'list', repetition: Repetition.REPEATED, children: [element] };
  return { name, repetition: Repetition.OPTIONAL, converted: Converted.LIST, children: [list] };
}

export function mapNode(name: string, key: SchemaNode, value: SchemaNode): SchemaNode {
  const entry = { name: 'key_value', repetition: Repetition.REPEATED, children: [key, value] };
  return { name, repetition: Repetition.OPTIONAL, converted: Converted.MAP, children: [entry] };
}

export function leavesOf(nodes: readonly SchemaNode[]): Leaf[] {
  const leaves: Leaf[] = [];
  const visit = (node: SchemaNode, above: readonly string[], definition: number, repetition: number) => {
    const path = [...above, node.name];
    const maxDefinition = definition + (node.repetition === Repetition.REQUIRED ? 0 : 1);
    const maxRepetition = repetition + (node.repetition === Repetition.REPEATED ? 1 : 0);
    if (node.type !== undefined) leaves.push({ path, type: node.type, maxDefinition, maxRepetition });
    for (const child of node.children ?? []) visit(child, path, maxDefinition, maxRepetition);
  };
  for (const node of nodes) visit(node, [], 0, 0);
  return leaves;
}

/** The tree as the footer has it: each group, then what is in it. */
export function flattened(nodes: readonly SchemaNode[]): SchemaNode[] {
  return nodes.flatMap((node) => [node, ...flattened(node.children ?? [])]);
}

export function writeNode(writer: ThriftWriter, node: SchemaNode): void {
  const { name, type, repetition, converted, children } = node;
  if (type !== undefined) writer.i32(1, type);
  writer.i32(3, repetition).text(4, name);
  if (children) writer.i32(5, children.length);
  if (converted !== undefined) writer.i32(6, converted);
}
