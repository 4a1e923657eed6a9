import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import './equal-arrays';

// The same examples in every run: what fails in one place can be seen fail in another. `FC_SEED=n` draws others.
fc.configureGlobal({ seed: Number(process.env['FC_SEED'] ?? 1) });

// The list of a user's own code (`coplay train`) is no matter of tests.
process.env['XDG_STATE_HOME'] = join(tmpdir(), `coplay-test-state-${process.pid}`);
