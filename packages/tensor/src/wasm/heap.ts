import { type EngineMemory, engine } from './engine';

/** WebAssembly's pages, in bytes. */
const PAGE = 65536;

/** The most that a memory with 32-bit addresses can have. */
const MOST = 65536;

interface Block {
  readonly start: number;
  readonly end: number;
}

/**
 * The memory of all modules in this thread: engines reserve gigabytes of addresses for each memory, so one for every
 * graph would be too many. Each graph has a block of its own; one area that every call may overwrite is shared, since
 * calls never overlap.
 */
export class Heap {
  readonly memory: EngineMemory = new engine!.Memory({ initial: 1, maximum: MOST });
  /** In use, by address. The first 1024 bytes stay free. */
  private blocks: Block[] = [{ start: 0, end: 1024 }];
  private shared: Block = { start: 1024, end: 1024 };

  /** Where the shared area begins. */
  get scratch(): number {
    return this.shared.start;
  }

  /** Room for some bytes. @throws RangeError where there's no more memory */
  allocate(bytes: number): number {
    let start = 0;
    let place = 0;
    for (const block of this.blocks) {
      if (start + bytes <= block.start) break;
      start = Math.max(start, block.end);
      place++;
    }
    const end = start + Math.max(16, bytes);
    this.grow(end);
    this.blocks.splice(place, 0, { start, end });
    return start;
  }

  free(start: number): void {
    this.blocks = this.blocks.filter((block) => block.start !== start);
  }

  /**
   * Makes the shared area at least that large. It may move: ask for its address in each call.
   *
   * @throws RangeError where there's no more memory; the area stays as it was
   */
  share(bytes: number): void {
    if (this.shared.end - this.shared.start >= bytes) return;
    const { blocks } = this;
    if (this.shared.end > this.shared.start) this.free(this.shared.start);
    try {
      const start = this.allocate(bytes);
      this.shared = { start, end: start + bytes };
    } catch (error) {
      // Other graphs still use the area as it was: nothing else may lie there.
      this.blocks = blocks;
      throw error;
    }
  }

  private grow(end: number): void {
    const missing = Math.ceil((end - this.memory.buffer.byteLength) / PAGE);
    if (missing > 0) this.memory.grow(missing);
  }
}

let heap: Heap | undefined;

/** The memory of this thread. */
export function sharedHeap(): Heap {
  heap ??= new Heap();
  return heap;
}
