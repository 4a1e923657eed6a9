export { type ActorCritic, type ActorCriticOptions, actorCritic, type RecordedRows } from './actor-critic';
export {
  actingRows,
  canCentre,
  centredEncoder,
  cutRows,
  experienceRows,
  type InputEncoder,
  type InputKinds,
  type InputOptions,
  type InputShapes,
  inputEncoder,
  jointEncoder,
  type RowSource,
  type SeenGame,
  showsSelf,
} from './inputs';
export { type MoaNet, type MoaNetOptions, moaNet } from './moa';
export {
  type ConvTorsoOptions,
  conv,
  layersModel,
  type MlpOptions,
  mlp,
  type TorsoBuilder,
  torsoBuilderId,
} from './torso';
export {
  type CellsWorldModelOptions,
  cellsWorldModel,
  type ObservationsWorldModelOptions,
  observationsWorldModel,
  type PlanesWorldModelOptions,
  planesWorldModel,
  type WorldModel,
  type WorldModelBuilder,
} from './world-model';
