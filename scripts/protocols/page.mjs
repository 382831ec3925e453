// @ts-check
/** The section of a protocol in docs/reference/protocols.md. */

/** @param {any} contract */
export function protocolSection(contract) {
  const {
    protocol,
    title,
    says,
    clock,
    properties,
    enums,
    storages,
    shapes,
    counters,
    summary = {},
    events,
    rules,
    checks,
    reserved,
  } = contract;
  return [
    `\n## \`${protocol}\`: ${title.toLowerCase()}\n`,
    `${says} ${clock}\n`,
    ...(Object.keys(storages).length > 0 ? partTable(contract, 'Storages', storages, 'kind') : []),
    ...(Object.keys(shapes).length > 0
      ? partTable(contract, 'Storages recognised by their shape', shapes, 'kind')
      : []),
    ...partTable(contract, 'Events', events, 'event'),
    ...table(
      protocol,
      'Properties',
      ['property', 'by', 'meaning', 'without it'],
      Object.entries(properties).map(([name, { origin, says, without }]) => [
        code(name),
        origin,
        says,
        without,
      ]),
    ),
    ...table(
      protocol,
      'Enums',
      ['enum', 'by', 'labels', 'meaning'],
      Object.entries(enums).map(([name, { origin, labels, isFree, says }]) => [
        code(name),
        origin,
        isFree ? `free, such as ${labelsText(labels)}` : labelsText(labels),
        says,
      ]),
    ),
    ...table(
      protocol,
      'Counters that tools know',
      ['counter', 'also understood', 'meaning'],
      Object.entries(counters).map(([name, { also, says }]) => [code(name), also.map(code).join(', '), says]),
    ),
    ...table(
      protocol,
      'Summary fields',
      ['field', 'type', 'by', 'meaning'],
      Object.entries(summary).map(([name, { type, origin, says }]) => [code(name), type, origin, says]),
    ),
    ...table(
      protocol,
      'Rules of order',
      ['rule', ''],
      Object.entries(rules).map(([name, text]) => [code(name), text]),
    ),
    ...table(
      protocol,
      'Checks of `doctor`',
      ['kind', 'what is reported'],
      Object.entries(checks).map(([name, text]) => [code(name), text]),
    ),
    ...table(
      protocol,
      'Reserved names',
      ['name', 'shape', 'meaning'],
      [
        ...Object.entries(reserved.storages).flatMap(([storage, fields]) =>
          Object.entries(fields).map(([name, field]) => [
            `field ${code(name)} of ${code(storage)}`,
            field.type,
            field.says,
          ]),
        ),
        ...Object.entries(reserved.events).map(([name, { says, fields }]) => [
          `event ${code(name)}`,
          Object.entries(fields)
            .map(([field, { type }]) => `${code(field)} ${type}`)
            .join(', '),
          says,
        ]),
      ],
      RESERVED,
    ),
    '',
  ].join('\n');
}

/** What the page says before the reserved names. */
const RESERVED =
  'No tool gives these names a meaning yet. They are kept, with these shapes, so that traces of today will be understood: what has such a name is recorded, and shown like any other field or event.';
const code = (/** @type {string} */ text) => `\`${text}\``;
const labelsText = (/** @type {any} */ labels) =>
  (Array.isArray(labels) ? labels : Object.entries(labels).map(([name, value]) => `${name} = ${value}`))
    .map(code)
    .join(', ');

/** A row for each part, and one for each of its fields. @param {any} contract @param {string} title @param {Record<string, any>} parts @param {string} kind */
function partTable({ protocol }, title, parts, kind) {
  return table(
    protocol,
    title,
    ['name', 'type', 'by', 'meaning', 'without it'],
    Object.entries(parts).flatMap(([name, part]) => [
      [`**${code(name)}**${mark(part.presence)}`, part[kind] ?? kind, part.origin, part.says, part.without],
      ...Object.entries(part.fields).map((entry) => fieldRow(entry, part.origin)),
    ]),
  );
}

/** @param {[string, any]} entry @param {string} of origin of the part */
function fieldRow([name, { type, unit, presence, origin, byPosition, says, without }], of) {
  const shown = `– ${code(name)}${mark(presence)}${byPosition ? ' *by position*' : ''}`;
  return [
    shown,
    unit && unit !== 'id' ? `${type}, ${unit}` : type,
    origin === of ? '' : origin,
    says,
    without,
  ];
}

const mark = (/** @type {string | undefined} */ presence) => (presence ? ` *${presence}*` : '');

/** @param {string} protocol @param {string} title @param {string[]} heads @param {(string | undefined)[][]} rows */
function table(protocol, title, heads, rows, intro = '') {
  if (rows.length === 0) return [];
  return [
    `### ${title} of ${code(protocol)}\n`,
    ...(intro === '' ? [] : [`${intro}\n`]),
    `| ${heads.join(' | ')} |`,
    `|${heads.map(() => '---').join('|')}|`,
    ...rows.map((cells) => `| ${cells.map((cell) => (cell ?? '').replaceAll('|', '\\|')).join(' | ')} |`),
    '',
  ];
}
