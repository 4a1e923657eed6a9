/*
 * `@coplay/core/checks`: checks of arguments and of saved states, and other helpers for packages of your own.
 */
export { actionFault } from '../action-spaces';
export { checkAct, checkAgentInput, checkAgentStep, checkObservationArrays } from '../check-agents';
export { checkExperience, checkExperienceOf, checkFieldNames } from '../check-experience';
export { checkEpisodeLength, checkExperienceSpec } from '../check-game';
export { checkRewards } from '../check-rewards';
export {
  checkCount,
  checkFunction,
  checkNumber,
  checkNumbers,
  checkRecord,
  checkText,
  checkTypedArray,
  isPlainRecord,
  type NumbersRange,
} from '../check-values';
export { checkArgument, functions, namedArrays, ndarrays, typedArrays } from '../checks';
export { oneForAllCopies, sharedAmongCopies } from '../copies';
export type { Complaint } from '../errors';
export { escapeMarkup, xmlCharacters } from '../escape-markup';
export { checkGenerator } from '../generator';
export { reachedGoal } from '../goals';
export { parseJson, repeatedKey } from '../json';
export { checkMetrics } from '../metrics';
export { checkObservations, type KindFault, kindFault } from '../observations';
export { oneAtATime } from '../one-at-a-time';
export { ofPart, type PartToRestore, restorePart, restoreParts, type SavedPart } from '../restore-parts';
export { checkAgent } from '../seats';
export { checkSimulator } from '../simulator';
export { yieldToEventLoop } from '../yield-to-event-loop';
