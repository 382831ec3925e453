/** What is in each entry, field by field: the reader and the writer work by the same table. */
import { FluxTag } from './types.js';

/**
 * id: a number below 2^32; pint: an unsigned number of 64 bits; sint: a signed one in its own bytes; text: UTF-8 with its length;
 * members: a count and as many members; magic: `flux`.
 */
export type FieldKind = 'magic' | 'u8' | 'u16' | 'id' | 'pint' | 'sint' | 'text' | 'members';

export interface LayoutField {
  readonly name: string;
  readonly kind: FieldKind;
  /** Lowest version of the format that has the field. */
  readonly since: number;
}

const TEXTS = 'name:text description:text';
const TYPED = `${TEXTS} type:u8 descriptor:text`;

const LAYOUTS: Readonly<Record<number, string>> = {
  [FluxTag.HEAD]: `magic:magic version:u8 traceId:id ${TEXTS} mode:u8 maxItemId:id maxEntrySize:id`,
  [FluxTag.SWTH]: 'traceId:id',
  [FluxTag.PBLK]: 'mode:u8 size:id compressed:id',
  [FluxTag.SECT]: 'counter:u8 size:u16 used:u16',
  [FluxTag.SCPD]: `id:id parent:id ${TEXTS}`,
  [FluxTag.SIGD]: `id:id parent:id ${TYPED}`,
  [FluxTag.MSGD]: `id:id idTo:id parent:id ${TYPED}`,
  [FluxTag.SIRD]: `id:id parent:id ${TEXTS}`,
  [FluxTag.SSGD]: `id:id parent:id ${TYPED} from:id to:id`,
  [FluxTag.SSRD]: `id:id parent:id ${TEXTS} from:id to:id`,
  [FluxTag.OPEN]: 'id:id domain:text start:sint rate:sint',
  [FluxTag.CLOS]: 'id:id end:sint',
  [FluxTag.DOMD]: 'domain:text',
  [FluxTag.CURR]: 'id:id position:sint',
  [FluxTag.ENMD]: 'id:id enumeration:id label:text value:pint',
  [FluxTag.MEMD]: 'id:id member:id parent:id@5 label:text type:u8 descriptor:text',
  [FluxTag.ATRE]: 'id:id type:u8@5 target:id style:id delta:sint base:id@5',
  [FluxTag.ATLA]: 'id:id style:id x:sint y:sint',
  [FluxTag.CREQ]: 'control:id message:id members:members',
  [FluxTag.CRES]: 'control:id message:id members:members',
};

/** By tag; undefined for tags that do not exist. */
export const LAYOUT: readonly (readonly LayoutField[] | undefined)[] = Array.from({ length: 256 }, (_, tag) =>
  LAYOUTS[tag]?.split(' ').map((text) => {
    const [name, kind, since = '0'] = text.split(/[:@]/);
    return { name, kind: kind as FieldKind, since: Number(since) };
  }),
);
