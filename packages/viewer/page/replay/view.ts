/** A part of a replay that shows one moment after the other. */
export interface View {
  readonly element: HTMLElement;
  /** @param moment 0 to the number of steps */
  show(moment: number): void;
}
