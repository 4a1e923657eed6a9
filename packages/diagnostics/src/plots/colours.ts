/** Okabe and Ito (2008): can be told apart by colour-blind readers, on white and in print. Yellow is left out. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000'];

/** The colour of the i-th series. */
export function colourOf(index: number): string {
  return COLOURS[index % COLOURS.length];
}

/** The same colour, light: seven parts of white to three of it. */
export function tintOf(index: number): string {
  const parts = colourOf(index).match(/[0-9a-f]{2}/g)!;
  const mixed = parts.map((part) => Math.round(0.3 * Number.parseInt(part, 16) + 0.7 * 255).toString(16));
  return `#${mixed.join('')}`;
}

/** Ink of text, axes and grid. */
export const INK = { text: '#222222', faint: '#666666', grid: '#cccccc', paper: '#ffffff' };

/** Arial where a browser has it; its metric twin, which comes with this package, in PNG. */
export const FONT = 'Arimo, Arial, Helvetica, sans-serif';
