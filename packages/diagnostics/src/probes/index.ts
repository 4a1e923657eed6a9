export { linearProbe, type ProbeData, type ProbeOptions, type ProbeResult } from './linear-probe';
