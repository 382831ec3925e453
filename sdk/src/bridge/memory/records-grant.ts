/**
 * The memory for records that a client sends and that wait for the writer: of a client whose records are not in its own memory. It is
 * reserved whole, so that a trace that has begun is not ended for want of it.
 */
import { MAX_PAYLOAD_BYTES } from '../wire/protocol.js';
import type { MemoryAccount, MemoryGrant } from './memory-account.js';

const REMEDY = 'let its client hold less (USCOPE_CREDIT_MIB) or have shared memory';

export class RecordsGrant {
  private readonly grant: MemoryGrant;
  private readonly bytes: number;

  /** @param credit bytes that the client may have sent and that are not durable; one message more is taken */
  constructor(memory: MemoryAccount, trace: string, credit: number) {
    this.grant = memory.open(`what the client of the trace "${trace}" may send ahead`, REMEDY);
    this.bytes = credit + MAX_PAYLOAD_BYTES;
  }

  /** Before the trace is opened. @throws UscopeError BRIDGE_NO_MEMORY */
  reserveEarly(): Promise<void> {
    return this.grant.grant(this.bytes);
  }

  /** The client sends records after all; nothing, when that is reserved already. @throws UscopeError BRIDGE_NO_MEMORY */
  reserve(): void {
    if (this.grant.bytes === 0) this.grant.extend(this.bytes);
  }

  release(): void {
    this.grant.release();
  }
}
