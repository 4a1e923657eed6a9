export { type ConfigurationReport, configurationAudit } from './configuration';
export { type Counters, counterAudit, dueAudit } from './counters';
export { type AuditStep, type Conclusion, nameCulprit } from './culprit';
export { moduleAudit } from './modules';
export { type LearnerInfluence, type OwnershipReport, ownershipAudit } from './ownership';
export { type SymmetryReport, symmetryAudit, symmetryVerdict } from './symmetry';
export type { Verdict } from './verdict';
