export { agentColor } from './colors';
export { renderReplay } from './replay';
export { sceneSvg } from './scene-svg';
export { renderSvg, type SvgOptions } from './svg';
export { renderText, type TextOptions } from './text';
