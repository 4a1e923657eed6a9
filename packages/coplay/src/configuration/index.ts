export { runOf } from './build';
export { configurationIn, keepConfiguration } from './directory';
export { checkConfiguration, type RunConfiguration, readJsonFile } from './schema';
