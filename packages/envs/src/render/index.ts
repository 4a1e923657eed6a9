export { renderReplay } from './replay';
export { renderSvg, type SvgOptions } from './svg';
export { renderText, type TextOptions } from './text';
