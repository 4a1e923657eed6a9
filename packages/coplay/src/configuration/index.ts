export {
  type CodeOfRun,
  type CodeOptions,
  checkParts,
  codeOfRun,
  holding,
  isHeld,
  runOf,
  unlessAborted,
} from './build';
export { isCode, type LoadedCode, loadCode } from './code';
export { type AgentMaker, type Configuration, defineConfig } from './define';
export { configurationIn, giveBack, keepConfiguration, refuseBegun } from './directory';
export { ALLOW_CODE, checkAllowed, noteOwnCode, trustOf } from './own-code';
export { checkedOf, isJson, type ReadConfiguration, readChanged } from './read';
export { checkConfiguration, type RunConfiguration, readJsonFile } from './schema';
export { configurationWith, type Settings, settingsOf } from './settings';
