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
    ...partTable(contract, 'Events', events, null),
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
    ),
    '',
  ].join('\n');
}

const code = (/** @type {string} */ text) => `\`${text}\``;
const labelsText = (/** @type {any} */ labels) =>
  (Array.isArray(labels) ? labels : Object.entries(labels).map(([name, value]) => `${name} = ${value}`))
    .map(code)
    .join(', ');

/** @param {any} contract @param {string} title @param {Record<string, any>} parts @param {string | null} column */
function partTable({ protocol }, title, parts, column) {
  return table(
    protocol,
    title,
    ['name', 'by', 'fields', 'meaning', 'without it'],
    Object.entries(parts).map(([name, part]) => [
      `${code(name)}${column ? ` (${part[column]})` : ''}${part.presence === 'expected' ? ' **expected**' : ''}`,
      part.origin,
      Object.entries(part.fields)
        .map((entry) => fieldText(entry, part.origin))
        .join('<br>'),
      part.says,
      part.without,
    ]),
  );
}

/** @param {[string, any]} entry @param {string} of origin of the part */
function fieldText([name, { type, unit, presence, origin, byPosition, says, without }], of) {
  const marks = [
    unit && unit !== 'id' ? unit : '',
    presence ?? '',
    byPosition ? 'by position' : '',
    origin === of ? '' : origin,
  ].filter((mark) => mark !== '');
  const missing = without ? ` Without it ${without}.` : '';
  return `${code(name)} ${type}${marks.length > 0 ? ` (${marks.join(', ')})` : ''}: ${says}${missing}`;
}

/** @param {string} protocol @param {string} title @param {string[]} heads @param {(string | undefined)[][]} rows */
function table(protocol, title, heads, rows) {
  if (rows.length === 0) return [];
  return [
    `### ${title} of ${code(protocol)}\n`,
    `| ${heads.join(' | ')} |`,
    `|${heads.map(() => '---').join('|')}|`,
    ...rows.map((cells) => `| ${cells.map((cell) => (cell ?? '').replaceAll('|', '\\|')).join(' | ')} |`),
    '',
  ];
}
