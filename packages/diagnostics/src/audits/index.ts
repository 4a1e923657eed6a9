export { type SymmetryOptions, type SymmetryReport, symmetryAudit } from './symmetry';
