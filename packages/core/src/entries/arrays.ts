/*
 * `@coplay/core/arrays`: typed arrays of a game, allocated, copied and told apart, for packages of your own.
 */
export {
  type ActionLayout,
  actionLayout,
  choicesOf,
  codeSizeOf,
  drawAction,
  isBox,
  isSameSpace,
  maskSizeOf,
  readSpace,
  type SavedSpace,
  saveSpace,
  widthOf,
  writeActionCode,
} from '../action-spaces';
export { dtypeOf, inThisRealm, isArrayOf, isTypedArray, sizeOf } from '../arrays';
export { allocateStepArrays } from '../env-rows';
export {
  allocateCuts,
  allocateExperience,
  allocateObservations,
  type Cuts,
  copyObservation,
  copyRow,
  isLastStep,
} from '../experience';
export { allocateGrid, type GridArrays } from '../grid-parts';
export { highOf, kindOf, OBSERVATION_KINDS } from '../observations';
