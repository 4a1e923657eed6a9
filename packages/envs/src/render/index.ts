export { agentColor } from './colors';
export { renderReplay } from './replay';
export { sceneSvg } from './scene-svg';
export { renderSvg } from './svg';
export { renderText } from './text';
