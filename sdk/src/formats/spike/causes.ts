/** Numbers of the exceptions that Spike names (its trap.h). */
const NAMES: readonly string[] = [
  'instruction_address_misaligned',
  'instruction_access_fault',
  'illegal_instruction',
  'breakpoint',
  'load_address_misaligned',
  'load_access_fault',
  'store_address_misaligned',
  'store_access_fault',
  'user_ecall',
  'supervisor_ecall',
  'virtual_supervisor_ecall',
  'machine_ecall',
  'instruction_page_fault',
  'load_page_fault',
  '',
  'store_page_fault',
  'double_trap',
  '',
  'software_check',
  'hardware_error',
  'instruction_guest_page_fault',
  'load_guest_page_fault',
  'virtual_instruction',
  'store_guest_page_fault',
];

/** `trap_illegal_instruction`, or what Spike prints of a number that it has no name for: `trap #24`. Null: neither. */
export function causeOf(name: string): bigint | null {
  const known = NAMES.indexOf(name.replace(/^trap_/, ''));
  if (known >= 0) return BigInt(known);
  const [, number] = /#(\d{1,18})$/.exec(name) ?? [];
  return number === undefined ? null : BigInt(number);
}
