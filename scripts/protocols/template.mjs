// @ts-check
/** A schema to begin with: what a tracer should record first and second; what comes third is a comment. */

/** @typedef {{type: string, enum?: string, presence?: string, byPosition?: boolean}} Field */

/** @param {any} contract */
export function templateText(contract) {
  const { protocol, properties, enums, storages, shapes, counters, events } = contract;
  const scope = protocol === 'cpu' ? 'core0' : protocol;
  const stepped = Object.entries(events).filter(([, { step }]) => step !== undefined);
  const lines = [
    `# A schema of the protocol "${protocol}" to begin with. docs/reference/protocols.md says what each part means and what it buys.`,
    ...(stepped.some(([, { step }]) => step === 3)
      ? ['# A line behind # is for later: take the mark away and record it.']
      : []),
    'uscope: 1',
    '',
    'dut:',
    ...['dut_name', ...Object.keys(properties).filter((key) => key !== 'dut_name')]
      .filter((key) => !key.endsWith('_version') && (key === 'dut_name' || properties[key].without))
      .map((key) => `  ${key}: ${properties[key]?.example ?? 'my-design'}`),
    '',
    'clocks:',
    protocol === 'tr' ? '  clk: 1 ps' : '  clk: 1 ns',
    '',
    'enums:',
    ...Object.entries(enums)
      .filter(([name]) => usesEnum(contract, name))
      .map(([name, { labels }]) => `  ${name}: [${labels.join(', ')}]`),
    '',
    'scopes:',
    `  ${scope}:`,
    `    protocol: ${protocol}`,
    '    clock: clk',
    ...(Object.keys(storages).length > 0 ? ['    storages:'] : []),
    ...Object.entries(storages).flatMap(([name, part]) => storageLines(name, part)),
    ...Object.entries(counters)
      .filter(([, { step }]) => step !== undefined)
      .flatMap(([name, { says }]) => [`      # ${plain(says)}`, `      ${name}: counter`]),
    ...(shapes.buffer ? storageLines(shapes.buffer.example, shapes.buffer) : []),
    '    events:',
    ...stepped
      .sort(([, a], [, b]) => a.step - b.step)
      .flatMap(([name, { says, step, fields }]) => [
        `      # ${plain(says)}`,
        `      ${step === 3 ? '# ' : ''}${name}: {${fieldTexts(fields, step === 3 || contract.isExact).join(', ')}}`,
      ]),
  ];
  return `${lines.join('\n')}\n`;
}

/** @param {string} name @param {any} part */
function storageLines(name, { says, slots, kind, fields }) {
  return [
    `      # ${plain(says)}`,
    `      ${name}: {slots: ${slots}, kind: ${kind}, fields: {${fieldTexts(fields, false).join(', ')}}}`,
  ];
}

/** The fields that make the part, and those that are missed. @param {Record<string, Field>} fields @param {boolean} isWhole */
function fieldTexts(fields, isWhole) {
  return Object.entries(fields)
    .filter(([, { presence, byPosition }]) => isWhole || presence !== undefined || byPosition)
    .map(([name, { type, enum: labels }]) => `${name}: ${labels ?? (type === 'wide' ? 'u64' : type)}`);
}

/** @param {any} contract @param {string} name */
function usesEnum({ storages, events }, name) {
  const parts = [
    ...Object.values(storages),
    ...Object.values(events).filter(({ step }) => step !== undefined),
  ];
  return parts.some(({ fields }) =>
    Object.values(fields).some(
      (/** @type {any} */ field) => field.enum === name && (field.presence || field.byPosition),
    ),
  );
}

/** @param {string} text */
const plain = (text) => text.replaceAll('`', '');
