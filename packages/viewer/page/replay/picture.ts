import { html } from '../dom';

/** A place for pictures of which each resembles the one before. */
export interface Picture {
  readonly element: HTMLElement;
  /** @param svg of a picture that we drew, with one part of it on each line; empty for none */
  show(svg: string): void;
  /** Shows words in the place of a picture. */
  say(words: string): void;
}

/** Draws pictures of which only the lines that change are drawn anew: what stands still costs nothing. */
export function livePicture(): Picture {
  const element = html('div', { class: 'board' });
  let head = '';
  let parts = new Map<string, Element>();

  const draw = (root: Element, lines: readonly string[]) => {
    const before = parts;
    parts = new Map();
    for (const line of lines) {
      // The same thing may be drawn twice in one place.
      let key = line;
      while (parts.has(key)) key += ' ';
      const known = before.get(key);
      before.delete(key);
      parts.set(key, known ?? added(root, line));
    }
    for (const part of before.values()) part.remove();
  };
  const clear = () => {
    head = '';
    parts = new Map();
    element.replaceChildren();
  };
  return {
    element,
    show(svg) {
      if (svg === '') return clear();
      const [first, ...rest] = svg.trimEnd().split('\n');
      if (first !== head) {
        clear();
        head = first;
        element.innerHTML = `${first}</svg>`;
      }
      draw(element.firstElementChild!, rest.slice(0, -1));
    },
    say(words) {
      clear();
      element.append(html('pre', {}, words));
    },
  };
}

/** A line of an SVG file as an element of it. */
function added(root: Element, line: string): Element {
  const group = document.createElementNS('http://www.w3.org/2000/svg', 'g');
  group.innerHTML = line;
  const isWords = /^<(title|desc)/.test(line); // only words that are the picture's own children describe it
  const part = isWords ? group.firstElementChild! : group;
  if (isWords) root.prepend(part);
  else root.append(part);
  return part;
}
