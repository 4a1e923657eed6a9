type Attributes = Readonly<Record<string, string | number>>;

/** An element of HTML with attributes and children; text is text, never markup. */
export function html<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** Sets text only where it changes: a text that is set again makes the browser lay out its surroundings anew. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
