export { linearProbe, type ProbeResult } from './linear-probe';
