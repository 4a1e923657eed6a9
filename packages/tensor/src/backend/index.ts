export { ensureBackend } from './ensure-backend';
export { type BackendInfo, type BackendName, useBackend } from './use-backend';
