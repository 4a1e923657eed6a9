import type { NamedArrays } from '@coplay/core';
import type { Binding, Feeds } from '../onnx/feeds';

/** The state of one of several members: of the one that is calling. */
export class MemberBinding implements Binding {
  /**
   * @param members  each one's own binding
   * @param caller   whose turn it is
   */
  constructor(
    private readonly members: readonly Binding[],
    private readonly caller: () => number,
  ) {}

  feed(feeds: Feeds): void {
    this.members[this.caller()].feed(feeds);
  }

  fetch(fetches: Parameters<Binding['fetch']>[0]): void {
    this.members[this.caller()].fetch(fetches);
  }

  commit(outputs: NamedArrays): void {
    this.members[this.caller()].commit(outputs);
  }
}
