export { type SimpleSpeakerListenerOptions, simpleSpeakerListener } from './simple-speaker-listener';
export { type SimpleSpreadOptions, simpleSpread } from './simple-spread';
export { type SimpleTagOptions, simpleTag } from './simple-tag';
