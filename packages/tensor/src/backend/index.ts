export { ensureBackend } from './ensure-backend';
export { type BackendChoice, type BackendInfo, type BackendName, useBackend } from './use-backend';
